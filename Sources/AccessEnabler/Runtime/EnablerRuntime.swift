import RegentPlatform
import Synchronization

/// Connects an app's threads with the state machine: accepts calls on any thread and delivers callbacks in order.
///
/// One task handles the messages one by one, so the state machine needs no lock and calls keep their order.
final class EnablerRuntime: Sendable {
  let deviceID: String
  private let inbox: AsyncStream<Envelope>.Continuation
  private let dispatcher: EventDispatcher
  let performer: ActionPerformer
  private let lastRequest = Atomic<Int>(0)

  /// A message to the enabler's task, with the id of the app's call that it starts.
  struct Envelope: Sendable {
    var message: Message
    var request: RequestID
  }

  init(
    _ configuration: EnablerConfiguration, delegate: (any EntitlementDelegate)?
  ) throws(FileError) {
    let store = try TokenStore(configuration.storage, machineIDFile: configuration.machineIDFile)
    deviceID = store.installation.deviceID
    let (envelopes, inbox) = AsyncStream<Envelope>.makeStream()
    self.inbox = inbox
    let dispatcher = EventDispatcher(delegate) { dialog in
      inbox.yield(Envelope(message: .app(.dialogUnhandled(dialog)), request: RequestID(number: 0)))
    }
    self.dispatcher = dispatcher
    let performer = ActionPerformer(configuration, store, dispatcher, inbox)
    self.performer = performer
    Task { await performer.run(envelopes) }
  }

  var delegate: (any EntitlementDelegate)? {
    get { dispatcher.delegate }
    set { dispatcher.delegate = newValue }
  }

  /// Ends the enabler's task.
  ///
  /// Waiting calls fail as cancelled.
  func stop() { inbox.finish() }

  /// Sends a message to the enabler's task.
  ///
  /// The result is reported only to the delegate and to event streams.
  func post(_ message: Message) { inbox.yield(Envelope(message: message, request: newRequest())) }

  func newEventStream() -> AsyncStream<EntitlementEvent> { dispatcher.newStream() }

  /// Sends a message to the enabler's task, and waits for the result of the call.
  func outcome(of message: Message) async throws(EntitlementError) -> RequestOutcome {
    let request = newRequest()
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        begin(message, request, nil) { continuation.resume(returning: $0) }
        // The cancellation handler may have run before the call was sent, and then has cancelled nothing.
        if Task.isCancelled { cancel(request) }
      }
    } onCancel: {
      cancel(request)
    }
    if case .failed(let error) = outcome { throw error }
    return outcome
  }

  /// Signs in and returns the progress as a stream.
  func steps(
    of details: AuthenticationRequest
  ) -> AsyncStream<Result<SignInStep, EntitlementError>> {
    let request = newRequest()
    let (steps, continuation) = AsyncStream<Result<SignInStep, EntitlementError>>.makeStream()
    continuation.onTermination = { [weak self] end in
      // An app that stops reading the stream cancels the sign-in.
      if case .cancelled = end { self?.cancel(request) }
    }
    begin(.asked(.getAuthentication(details)), request) { event in
      continuation.yield(.success(.progress(event)))
    } _: { outcome in
      switch outcome {
      case .signIn(let signIn): continuation.yield(.success(.signedIn(signIn)))
      case .failed(let error): continuation.yield(.failure(error))
      default: continuation.yield(.failure(EntitlementError(.outOfOrder)))
      }
      continuation.finish()
    }
    return steps
  }

  private func begin(
    _ message: Message, _ request: RequestID, _ progress: (@Sendable (EntitlementEvent) -> Void)?,
    _ end: @escaping @Sendable (RequestOutcome) -> Void
  ) {
    dispatcher.await(request, progress, end)
    if case .terminated = inbox.yield(Envelope(message: message, request: request)) {
      dispatcher.finish(request, .failed(EntitlementError(.cancelled)))
    }
  }

  /// Cancels the call in the state machine.
  ///
  /// The caller gets the error at once.
  private func cancel(_ request: RequestID) {
    inbox.yield(Envelope(message: .cancel(request), request: newRequest()))
  }

  private func newRequest() -> RequestID {
    RequestID(number: lastRequest.add(1, ordering: .relaxed).newValue)
  }
}
