/// When a client asks next whether its code was approved (RFC 8628 §3.5), in milliseconds.
///
/// "Slow down" counts for all questions that follow. A server that cannot be reached is asked at growing intervals, and
/// at the usual one again when it answers.
package struct PollSchedule: Sendable, Hashable {
  /// How much "slow down" adds.
  private static let step: Int64 = 5_000
  /// The longest pause for a server that is away.
  private static let longest: Int64 = 60_000

  package private(set) var interval: Int64
  private var failures = 0

  /// The interval that the server asked for, in seconds; never none at all.
  package init(seconds: Int64) { interval = max(1, min(seconds, 3600)) * 1000 }

  /// The pause after an answer that is "not yet".
  package mutating func afterPending() -> Int64 {
    failures = 0
    return interval
  }

  /// The pause after "slow down".
  package mutating func afterSlowDown() -> Int64 {
    failures = 0
    interval = min(interval + Self.step, 3_600_000)
    return interval
  }

  /// The pause after no answer at all.
  package mutating func afterFailure() -> Int64 {
    failures = min(failures + 1, 16)
    return min(interval << Int64(failures), max(interval, Self.longest))
  }
}
