/// What a server counted since it started.
public struct Statistics: Sendable, Hashable {
  /// Connections accepted.
  public var accepted = 0
  /// Connections open now.
  public var open = 0
  /// Requests handed to handlers.
  public var requests = 0
  /// Requests the engine itself refused as malformed or too large.
  public var refused = 0
  /// Connections closed because there were too many in all, or because one source held too many or too many bytes.
  public var shed = 0
  /// Idle connections closed to make room for others.
  public var evicted = 0
  /// Connections cut by a deadline.
  public var timedOut = 0
  /// Pending replies whose client went away or whose deadline passed.
  public var abandoned = 0
  /// Responses replaced by a 500 because a header was unsafe.
  public var faulty = 0
  /// TLS handshakes that failed.
  public var failedHandshakes = 0
  /// Times accepting had to pause because descriptors ran out.
  public var acceptPauses = 0

  /// Nothing counted.
  public init() {}
}
