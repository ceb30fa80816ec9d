/// Counts values, such as durations, by power of two.
///
/// It costs little and shows a slow disk.
public struct Histogram: Sendable {
  /// Bucket `n` counts the values below 2ⁿ that no earlier bucket counts.
  public private(set) var buckets = [Int](repeating: 0, count: 32)
  /// The largest value that was counted.
  public private(set) var largest = 0
  /// The sum of all counted values.
  public private(set) var sum = 0

  public init() {}

  public mutating func record(_ value: Int) {
    largest = max(largest, value)
    sum &+= max(0, value)
    let bits = Int.bitWidth - max(0, value).leadingZeroBitCount
    buckets[min(bits, buckets.count - 1)] += 1
  }

  /// How many values were counted.
  public var count: Int { buckets.reduce(0, +) }

  /// An upper bound for the given share of the counted values, for example for the 99th percentile.
  ///
  /// - Parameter share: from 0 to 1.
  /// - Returns: a power of two, or the largest value if that is smaller; 0 when nothing was counted.
  public func bound(of share: Double) -> Int {
    let wanted = Int((Double(count) * share).rounded(.up))
    var seen = 0
    for (bits, amount) in buckets.enumerated() {
      seen += amount
      if seen >= wanted { return min(largest, 1 << bits) }
    }
    return largest
  }
}
