package import RegentPairing

/// Limits how often a client polls for one code.
///
/// A poll that comes too early gets `slow_down`. `slow_down` only ever replaces `authorization_pending`: once the
/// viewer has approved or denied the code, the client is told at once. The interval is counted from the last poll,
/// early or not. A client that polls every two seconds therefore gets `slow_down` each time, and a client that waits
/// five seconds never does.
///
/// The interval does not grow. If each early poll made it longer, two programs that share a code, or one that was
/// restarted, would be locked out until the code expires.
package struct PollPace: Sendable, Hashable {
  /// The interval between polls that the service tells its clients.
  package static let interval: Duration = .seconds(5)
  /// How much earlier than the interval a poll may come, because the network may have delayed the one before.
  package static let tolerance: Duration = .seconds(1)

  private var last: Uptime?

  package init() {}

  /// Whether a poll now comes too early.
  ///
  /// Early or not, this poll counts as the latest one.
  package mutating func isTooEarly(at now: Uptime) -> Bool {
    defer { last = now }
    guard let last else { return false }
    return now.since(last) < Self.interval - Self.tolerance
  }

  /// Notes that a poll was held open (long polling).
  ///
  /// The client may send its next poll at once.
  package mutating func wasHeld() { last = nil }
}
