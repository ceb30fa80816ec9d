internal import RegentPairing

/// The nonces of one key that were used at other nodes.
///
/// When it is full, the oldest second is removed. From then on, all requests signed up to that second are refused,
/// because a forgotten nonce could be replayed.
struct NoncesElsewhere: Sendable {
  private let capacity: Int
  private var seconds: [Int64: Set<UInt64>] = [:]
  private var count = 0
  /// Requests signed before this second are refused.
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
      // The second comes from a table that is not signed, so it may be any number. Adding one to the largest would
      // overflow.
      floor = oldest == .max ? .max : oldest + 1
    }
  }

  /// Removes the nonces of seconds whose requests are refused because of their time anyway.
  mutating func sweep(before second: Int64) {
    for old in seconds.keys where old < second { count -= seconds.removeValue(forKey: old)?.count ?? 0 }
  }
}
