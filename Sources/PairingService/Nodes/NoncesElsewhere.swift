internal import RegentPairing

/// The nonces of one key that calls at other nodes have used.
///
/// When there is no room the oldest second goes, and what was signed in it is refused from then on: a header that was
/// forgotten could be used again.
struct NoncesElsewhere: Sendable {
  private let capacity: Int
  private var seconds: [Int64: Set<UInt64>] = [:]
  private var count = 0
  /// What was signed earlier is refused.
  private var floor = Int64.min

  init(capacity: Int) { self.capacity = capacity }

  var isEmpty: Bool { count == 0 }

  func check(_ second: Int64, _ mark: UInt64) throws(SignatureRefusal) {
    guard second >= floor else { throw .outsideWindow }
    if seconds[second]?.contains(mark) == true { throw .replayed }
  }

  mutating func add(_ second: Int64, _ mark: UInt64) {
    guard second >= floor, seconds[second, default: []].insert(mark).inserted else { return }
    count += 1
    while count > capacity, let oldest = seconds.keys.min() {
      count -= seconds.removeValue(forKey: oldest)?.count ?? 0
      // The table that they came through is not signed: it may hold any number.
      floor = oldest == .max ? .max : oldest + 1
    }
  }

  /// Lets go of what is refused for its time anyway.
  mutating func sweep(before second: Int64) {
    for old in seconds.keys where old < second { count -= seconds.removeValue(forKey: old)?.count ?? 0 }
  }
}
