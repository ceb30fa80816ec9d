/// When a client polls next for its code (RFC 8628 §3.5), in milliseconds.
///
/// A server with long polling (``DiscoveredServer/holdsQuestions``) is polled at once, and again as soon as it has
/// answered a poll that it held. A pause would delay the answer that the viewer has approved. Other servers are polled
/// at their interval. The first poll comes one interval after the code, because some servers count from there.
///
/// `slow_down` lengthens the interval for all later polls. While a server cannot be reached, the pauses grow; after its
/// next response they are normal again.
package struct PollSchedule: Sendable, Hashable {
  /// How much `slow_down` adds to the interval.
  private static let step: Int64 = 5_000
  /// The longest pause while the server cannot be reached, unless its interval is longer.
  private static let longest: Int64 = 60_000

  package private(set) var interval: Int64
  private let holds: Bool
  private var failures = 0

  /// A response that came sooner than this was not held.
  ///
  /// A server that announces long polling but answers at once is polled at the interval.
  private static let shortestHold: Duration = .seconds(1)

  /// Takes the interval that the server asked for in seconds, clamped to between one second and one hour.
  package init(seconds: Int64, holds: Bool = false) {
    interval = max(1, min(seconds, 3600)) * 1000
    self.holds = holds
  }

  /// The pause before the first poll.
  package var first: Int64 { holds ? 0 : interval }

  /// The pause in milliseconds after `authorization_pending`.
  ///
  /// `lasted` is how long the poll took.
  package mutating func afterPending(_ lasted: Duration = .zero) -> Int64 {
    failures = 0
    return holds && lasted >= Self.shortestHold ? 0 : interval
  }

  /// The pause in milliseconds after `slow_down`.
  package mutating func afterSlowDown() -> Int64 {
    failures = 0
    interval = min(interval + Self.step, 3_600_000)
    return interval
  }

  /// The pause in milliseconds after a poll without a response.
  package mutating func afterFailure() -> Int64 {
    failures = min(failures + 1, 16)
    return min(interval << Int64(failures), max(interval, Self.longest))
  }
}
