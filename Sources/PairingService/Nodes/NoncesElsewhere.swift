internal import RegentPairing

/// The nonces of one key that were used at other nodes.
///
/// When it is full, the oldest second is removed, and all calls signed up to that second are refused from then on,
/// because a forgotten nonce could be replayed.
struct NoncesElsewhere: Sendable {
  private let capacity: Int
  private var seconds: [Int64: Set<UInt64>] = [:]
  private var count = 0
  /// Calls signed before this second are refused.
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
      // The table through which they come is not signed, so it may contain any number; adding one to the largest would
      // overflow.
      floor = oldest == .max ? .max : oldest + 1
    }
  }

  /// Removes seconds whose calls are refused for their time anyway.
  mutating func sweep(before second: Int64) {
    for old in seconds.keys where old < second { count -= seconds.removeValue(forKey: old)?.count ?? 0 }
  }
}
