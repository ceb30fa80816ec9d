import RegentPlatform

/// The common part of all kinds of sign-ins (links): a stream of requests for codes, a stream of events, and the task
/// that serves the requests.
final class LinkWork: Sendable {
  /// The provider of each requested code.
  ///
  /// With `nil`, the viewer chooses the provider on the phone.
  let codeRequests: AsyncStream<String?>
  private let newCodeRequests: AsyncStream<String?>.Continuation
  private let work = Locked<Task<Void, Never>?>(nil)

  init() { (codeRequests, newCodeRequests) = AsyncStream.makeStream(of: String?.self) }

  func requestCode(provider: String?) { newCodeRequests.yield(provider) }

  /// Starts the task that serves the requests of the pairing screen, and returns its events.
  ///
  /// Call it once.
  func events(
    of serve: @escaping @Sendable (AsyncStream<LinkEvent>.Continuation) async -> Void
  ) -> AsyncStream<LinkEvent> {
    let (events, sink) = AsyncStream.makeStream(of: LinkEvent.self)
    let work = Task {
      await serve(sink)
      sink.finish()
    }
    self.work.withLock { $0 = work }
    return events
  }

  func cancel() { work.withLock { $0 }?.cancel() }

  /// Cancels the task that serves the requests, and waits until it has ended.
  func end() async {
    let work = work.withLock { $0 }
    work?.cancel()
    await work?.value
  }
}
