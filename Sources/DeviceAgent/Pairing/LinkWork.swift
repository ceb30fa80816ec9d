import RegentPlatform

/// What every link has: requests for codes come in, events go out, and the work between them ends when it is told to.
final class LinkWork: Sendable {
  /// The providers that codes are wanted for; none lets the viewer choose on the phone.
  let codeRequests: AsyncStream<String?>
  private let newCodeRequests: AsyncStream<String?>.Continuation
  private let work = Locked<Task<Void, Never>?>(nil)

  init() { (codeRequests, newCodeRequests) = AsyncStream.makeStream(of: String?.self) }

  func requestCode(provider: String?) { newCodeRequests.yield(provider) }

  /// The events of what serves the requests; called once.
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

  /// Returns when nothing is done any more.
  func end() async {
    let work = work.withLock { $0 }
    work?.cancel()
    await work?.value
  }
}
