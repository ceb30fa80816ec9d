/// The counters of a server since its start.
public struct Statistics: Sendable, Hashable {
  public var accepted = 0
  /// Connections that are open now.
  public var open = 0
  public var requests = 0
  /// Requests that the server refused as malformed or too large.
  public var refused = 0
  /// Connections closed because there were too many in all, or because one source had too many connections or buffered
  /// bytes.
  public var shed = 0
  /// Idle connections that were closed to make room for others.
  public var evicted = 0
  /// Connections that were cut by a deadline.
  public var timedOut = 0
  /// Pending replies whose client left, or whose deadline passed, before the handler completed them.
  public var abandoned = 0
  /// Responses that were replaced by a 500, because the handler had set an unsafe header.
  public var faulty = 0
  public var failedHandshakes = 0
  /// How often accepting was paused because there were no file descriptors left.
  public var acceptPauses = 0

  public init() {}
}
