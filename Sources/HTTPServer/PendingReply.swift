internal import RegentHTTPCodec
internal import RegentPlatform

/// A reply that a handler completes later, once and from any thread.
///
/// If the last reference to the reply is released before, the client gets a 500, so that a forgotten reply does not
/// leave the client waiting.
public final class PendingReply: Sendable {
  let ticket: ReplyTicket

  init(ticket: ReplyTicket) { self.ticket = ticket }

  /// Makes a reply that calls a closure with the response, for tests and in-process callers.
  public convenience init(deliver: @escaping @Sendable (Response) -> Void) {
    self.init(ticket: ReplyTicket(sink: ClosureSink(deliver: deliver), connection: 0))
  }

  /// Sends the response.
  ///
  /// Returns false, and does nothing, if the reply was completed before or the client has left.
  @discardableResult
  public func complete(_ response: Response) -> Bool { ticket.complete(response) }

  /// Calls `body` once if the client leaves or the reply's deadline passes before `complete`.
  ///
  /// The loop's thread calls `body`, which must not block. If the reply is already abandoned, `body` is called at once.
  /// A second closure replaces the first.
  public func onAbandoned(_ body: @escaping @Sendable () -> Void) { ticket.onAbandoned(body) }

  /// Whether the client has left or the deadline of the reply has passed.
  public var isAbandoned: Bool { ticket.isAbandoned }

  /// Abandons the reply.
  ///
  /// For in-process callers that no longer wait for it.
  public func abandon() { _ = ticket.abandon() }

  deinit { ticket.complete(Response(.internalServerError)) }
}

/// Receives completed replies.
protocol ReplySink: AnyObject, Sendable {
  func deliver(_ response: Response, to connection: UInt64)
}

private final class ClosureSink: ReplySink {
  private let body: @Sendable (Response) -> Void
  init(deliver body: @escaping @Sendable (Response) -> Void) { self.body = body }
  func deliver(_ response: Response, to connection: UInt64) { body(response) }
}

/// The state that a pending reply and its connection share.
///
/// The first thread that changes the state from `open` decides the outcome.
final class ReplyTicket: Sendable {
  private enum ReplyTicketState {
    case open((@Sendable () -> Void)?)
    case completed
    case abandoned
  }

  private let state = Locked(ReplyTicketState.open(nil))
  private let sink: any ReplySink
  private let connection: UInt64

  init(sink: any ReplySink, connection: UInt64) {
    self.sink = sink
    self.connection = connection
  }

  @discardableResult
  func complete(_ response: Response) -> Bool {
    let isFirst = state.withLock { state in
      guard case .open = state else { return false }
      state = .completed
      return true
    }
    if isFirst { sink.deliver(response, to: connection) }
    return isFirst
  }

  func onAbandoned(_ body: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      switch state {
      case .open: state = .open(body)
      case .completed: break
      case .abandoned: return true
      }
      return false
    }
    if isLate { body() }
  }

  var isAbandoned: Bool {
    state.withLock { if case .abandoned = $0 { true } else { false } }
  }

  /// Abandons the reply.
  ///
  /// Returns false if it was completed or abandoned before.
  @discardableResult
  func abandon() -> Bool {
    let (isFirst, tell) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
      guard case .open(let body) = state else { return (false, nil) }
      state = .abandoned
      return (true, body)
    }
    tell?()
    return isFirst
  }
}
