/// What answers requests.
///
/// It runs on an event loop's thread and must never block it: no disk, no lock that is held for long, no password
/// hashing, no outgoing call. Such work goes to other threads, which complete the reply later.
public protocol Handler: Sendable {
  /// The answer to a request, or the promise of one where it has to wait.
  func handle(_ request: Request) -> Answer
}

/// A handler's answer: the response, or the promise of one.
public enum Answer {
  /// The response itself.
  case now(Response)
  /// The engine calls the closure at once, on the same thread, with the handle to complete later from any thread.
  case later((PendingReply) -> Void)
}

/// A handler made of a closure.
public struct ClosureHandler: Handler {
  private let body: @Sendable (Request) -> Answer

  /// A handler that calls `body`.
  public init(_ body: @escaping @Sendable (Request) -> Answer) { self.body = body }

  public func handle(_ request: Request) -> Answer { body(request) }
}
