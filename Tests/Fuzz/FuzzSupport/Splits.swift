/// Divides bytes into parts as a network might; the same seed gives the same parts.
public struct Splitter {
  private var state: UInt64

  /// Makes a splitter whose seed comes from the input, so that the fuzzer chooses the parts.
  public init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

  /// The ends of the parts of `count` bytes, most of them short; the last end is `count`.
  public mutating func ends(_ count: Int) -> [Int] {
    var ends: [Int] = []
    var end = 0
    while end < count {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      let longest: UInt64 = state >> 60 == 0 ? 512 : state >> 62 == 0 ? 40 : 4
      end = min(count, end + 1 + Int(state % longest))
      ends.append(end)
    }
    return ends
  }
}
