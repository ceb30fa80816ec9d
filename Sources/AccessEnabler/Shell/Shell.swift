import Platform
import Synchronization

/// What stands between an app's threads and the machine: calls go in from anywhere, and callbacks come out in order.
///
/// A task of its own takes the messages one by one, so the machine needs no lock and calls keep their order.
final class Shell: Sendable {
  let deviceID: String
  private let inbox: AsyncStream<Mail>.Continuation
  private let audience: Audience
  private let lastRequest = Atomic<Int>(0)

  /// A message and the call of the app that it begins.
  struct Mail: Sendable {
    var message: Message
    var request: RequestID
  }

  init(
    _ configuration: EnablerConfiguration, delegate: (any EntitlementDelegate)?
  ) throws(FileError) {
    let store = try TokenStore(configuration.storage, machineIDFile: configuration.machineIDFile)
    deviceID = store.installation.deviceID
    let (mails, inbox) = AsyncStream<Mail>.makeStream()
    self.inbox = inbox
    let audience = Audience(delegate)
    self.audience = audience
    let worker = Worker(configuration, store, audience, inbox)
    Task { await worker.run(mails) }
  }

  /// Ends everything; calls that wait fail as cancelled.
  func stop() { inbox.finish() }

  /// Hands a message over; its end is told to the delegate and to event streams alone.
  func post(_ message: Message) { inbox.yield(Mail(message: message, request: newRequest())) }

  func newEventStream() -> AsyncStream<EntitlementEvent> { audience.newStream() }

  /// Hands a message over and waits for the end of the call.
  func outcome(
    of message: Message, progress: (@Sendable (EntitlementEvent) -> Void)? = nil
  ) async throws(EntitlementError) -> RequestOutcome {
    let request = newRequest()
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        audience.await(request, progress) { continuation.resume(returning: $0) }
        if case .terminated = inbox.yield(Mail(message: message, request: request)) {
          audience.finish(request, .failed(EntitlementError(.cancelled)))
        }
        // The handler below may have run before the call was on its way.
        if Task.isCancelled { cancel(request) }
      }
    } onCancel: {
      cancel(request)
    }
    if case .failed(let error) = outcome { throw error }
    return outcome
  }

  /// The machine forgets the call, and the caller hears so at once.
  private func cancel(_ request: RequestID) {
    inbox.yield(Mail(message: .cancel(request), request: newRequest()))
  }

  private func newRequest() -> RequestID {
    RequestID(number: lastRequest.add(1, ordering: .relaxed).newValue)
  }
}
