/// When a client asks next whether its code was approved (RFC 8628 §3.5), in milliseconds.
///
/// A server that holds questions (``DiscoveredServer/holdsQuestions``) is asked at once, and again as soon as it has
/// answered a question that it held: an approval during a pause would be late. Other servers are asked at their
/// interval, the first time one interval after the code, because some of them count from there.
///
/// "Slow down" counts for all questions that follow. A server that cannot be reached is asked at growing intervals, and
/// at the usual one again when it answers.
package struct PollSchedule: Sendable, Hashable {
  /// How much "slow down" adds.
  private static let step: Int64 = 5_000
  /// The longest pause for a server that is away.
  private static let longest: Int64 = 60_000

  package private(set) var interval: Int64
  private let holds: Bool
  private var failures = 0

  /// A question that took less was not held: a server that announces long polling and answers at once is polled.
  private static let shortestHold: Duration = .seconds(1)

  /// The interval that the server asked for, in seconds; never none at all.
  package init(seconds: Int64, holds: Bool = false) {
    interval = max(1, min(seconds, 3600)) * 1000
    self.holds = holds
  }

  /// The pause before the first question.
  package var first: Int64 { holds ? 0 : interval }

  /// The pause after an answer that is "not yet" and took so long.
  package mutating func afterPending(_ lasted: Duration = .zero) -> Int64 {
    failures = 0
    return holds && lasted >= Self.shortestHold ? 0 : interval
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
