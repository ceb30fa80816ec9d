/// Responds to requests.
///
/// A handler runs on an event loop's thread and must not block it: no disk access, no lock that is held for long, no
/// password hashing, no outgoing call. Other threads do such work and complete the reply later.
public protocol Handler: Sendable {
  /// Returns the response, or `.later` if the handler must wait before it can respond.
  func handle(_ request: Request) -> Answer
}

/// The result of a handler.
public enum Answer {
  case now(Response)
  /// The handler completes the response later.
  ///
  /// The event loop calls the closure at once on its thread; the ``PendingReply`` may be completed from any thread.
  case later((PendingReply) -> Void)
}

public struct ClosureHandler: Handler {
  private let body: @Sendable (Request) -> Answer

  public init(_ body: @escaping @Sendable (Request) -> Answer) { self.body = body }

  public func handle(_ request: Request) -> Answer { body(request) }
}
