/// The connections of a loop that wait for their next turn, first come, first served.
///
/// They are served in rounds: who asks again while others wait for the round they were put into waits for the next. A
/// connection that was served in this round or the one before asks without a pause; whoever did not goes before it.
struct TurnOrder {
  private var current: [UInt64] = []
  private var place = 0
  private var next: [UInt64] = []
  private var round: UInt32 = 2

  var isEmpty: Bool { place == current.count && next.isEmpty }

  mutating func append(_ connection: UInt64) { next.append(connection) }

  /// Who is next; nil when nobody waits.
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

  /// Whether somebody waits when all news were looked at; when nobody does, that was a round of its own.
  mutating func endLook() -> Bool {
    guard isEmpty else { return true }
    round &+= 1
    return false
  }

  /// The mark of a connection that is served now.
  var mark: UInt32 { round }

  /// Whether a connection with this mark was served so lately that others go first; 0 is that of one never served.
  func comesSoon(_ mark: UInt32) -> Bool { mark != 0 && round &- mark <= 1 }
}
