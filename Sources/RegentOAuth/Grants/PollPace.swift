package import RegentPairing

/// Limits how often a client polls for one code.
///
/// A poll that comes too early gets `slow_down`. Only `authorization_pending` is ever replaced by it: once the code is
/// approved or denied, the client is told at once. The interval is counted from the last poll, early or not. A client
/// that polls every two seconds therefore gets `slow_down` each time, and a client that waits five seconds never does.
///
/// The interval does not grow. If each early poll made it longer, two programs that share a code, or one that was
/// restarted, would be locked out until the code expires.
package struct PollPace: Sendable, Hashable {
  /// The polling interval that clients are told.
  package static let interval: Duration = .seconds(5)
  /// How much earlier than the interval a poll may come, because the network may have delayed the one before.
  package static let tolerance: Duration = .seconds(1)

  private var last: Uptime?

  package init() {}

  /// Whether a poll now is too early.
  ///
  /// The poll counts as the latest one in both cases.
  package mutating func isTooEarly(at now: Uptime) -> Bool {
    defer { last = now }
    guard let last else { return false }
    return now.since(last) < Self.interval - Self.tolerance
  }

  /// Notes that a poll was held open (long polling).
  ///
  /// The client may send the next one at once.
  package mutating func wasHeld() { last = nil }
}
