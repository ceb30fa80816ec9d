internal import RegentHTTPCodec
internal import RegentPlatform

/// A reply that is owed.
///
/// Whoever holds it completes it once, from any thread.
///
/// When the last reference goes away without that, the client gets a 500: a forgotten reply is never a hanging one.
public final class PendingReply: Sendable {
  let ticket: ReplyTicket

  init(ticket: ReplyTicket) { self.ticket = ticket }

  /// A reply that is given to a closure instead of a connection (for tests and in-process callers).
  public convenience init(deliver: @escaping @Sendable (Response) -> Void) {
    self.init(ticket: ReplyTicket(sink: ClosureSink(deliver: deliver), connection: 0))
  }

  /// Answers.
  ///
  /// Returns false, and does nothing, when it was answered before or the client is gone.
  @discardableResult
  public func complete(_ response: Response) -> Bool { ticket.complete(response) }

  /// Has `body` called once when the client goes away or the reply's deadline passes before `complete`.
  ///
  /// It is called on the loop's thread (at once, when it already happened) and must not block. A second call replaces
  /// the first closure.
  public func onAbandoned(_ body: @escaping @Sendable () -> Void) { ticket.onAbandoned(body) }

  /// Whether nobody waits for the reply any more.
  public var isAbandoned: Bool { ticket.isAbandoned }

  /// Tells whoever waits that nobody does: for in-process callers that give up.
  public func abandon() { _ = ticket.abandon() }

  deinit { ticket.complete(Response(.internalServerError)) }
}

/// Where completed replies go.
protocol ReplySink: AnyObject, Sendable {
  func deliver(_ response: Response, to connection: UInt64)
}

private final class ClosureSink: ReplySink {
  private let body: @Sendable (Response) -> Void
  init(deliver body: @escaping @Sendable (Response) -> Void) { self.body = body }
  func deliver(_ response: Response, to connection: UInt64) { body(response) }
}

/// The state that a pending reply and its connection share; whoever moves it out of `open` decides what happens.
final class ReplyTicket: Sendable {
  private enum State {
    case open((@Sendable () -> Void)?)
    case completed
    case abandoned
  }

  private let state = Locked(State.open(nil))
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

  /// Returns false when the reply was completed or abandoned before.
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
