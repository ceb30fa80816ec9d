/// The queue of an event loop's connections that wait to be served, first in, first out.
///
/// They are served in rounds: a connection that is queued during a round is served in the next one. A connection that
/// was served in this round or the one before counts as busy, and connections that are not busy go before it.
struct TurnOrder {
  private var current: [UInt64] = []
  private var place = 0
  private var next: [UInt64] = []
  private var round: UInt32 = 2

  var isEmpty: Bool { place == current.count && next.isEmpty }

  mutating func append(_ connection: UInt64) { next.append(connection) }

  /// Removes the next connection to serve from the queue; nil if none waits.
  mutating func take() -> UInt64? {
    if place == current.count {
      place = 0
      current.removeAll(keepingCapacity: current.count < 1024)
      guard !next.isEmpty else { return nil }
      swap(&current, &next)
      round &+= 1
    }
    defer { place += 1 }
    return current[place]
  }

  /// Ends the handling of the events of one poll.
  ///
  /// Returns whether connections wait.
  ///
  /// If no connection waits, the handled events count as a round.
  mutating func endLook() -> Bool {
    guard isEmpty else { return true }
    round &+= 1
    return false
  }

  /// The number of the current round, which a connection stores when it is served.
  var mark: UInt32 { round }

  /// Whether a connection that was served in the round `mark` was served so recently that others go first.
  ///
  /// The mark is 0 if it was never served.
  func comesSoon(_ mark: UInt32) -> Bool { mark != 0 && round &- mark <= 1 }
}
