/// Cuts bytes into pieces the way a network might; the same seed cuts the same way.
public struct Splitter {
  private var state: UInt64

  /// A splitter from a number of the input, so that the fuzzer chooses the cuts.
  public init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

  /// The ends of the pieces of `count` bytes, most of them short; the last is `count`.
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
