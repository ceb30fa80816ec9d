package import RegentPairing

/// How often one code is asked about.
///
/// A question that comes too early is answered `slow_down`, and a question it stays: the time that counts is the last
/// question's, so that who asks every two seconds is told each time, and who waits its five never is. Nothing grows: a
/// rule that made the interval longer with each early question would keep two programs that share a code (or one that
/// came back) away until the code is over. Only "not yet" is ever replaced by it: an answered code is told at once.
package struct PollPace: Sendable, Hashable {
  /// What a client is told to wait between two questions.
  package static let interval: Duration = .seconds(5)
  /// How much sooner a question may come: networks delay the earlier one and not the later.
  package static let tolerance: Duration = .seconds(1)

  private var last: Uptime?

  package init() {}

  /// Whether a question now is too early; it counts in either case.
  package mutating func isTooEarly(at now: Uptime) -> Bool {
    defer { last = now }
    guard let last else { return false }
    return now.since(last) < Self.interval - Self.tolerance
  }

  /// A question was held until there was something to say, or for as long as it wanted: the next may come at once.
  package mutating func wasHeld() { last = nil }
}
