extension Span<UInt8> {
  /// Where the first byte stands, from a place on, that is no visible character of ASCII and no space, or that is
  /// `mark`; eight bytes are looked at at once.
  package func endOfPlainText(from start: Int, before mark: UInt8) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let marks = UInt64(mark) &* ones
    var place = start
    while count &- place >= 8 {
      let word = UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self))
      let marked = word ^ marks
      // The lowest bit that is set is right; a carry from there may set others above it.
      let all = (word &- 0x20 &* ones) & ~word | word | (word &+ ones) | (marked &- ones) & ~marked
      let found = all & (0x80 &* ones)
      if found != 0 { return place &+ found.trailingZeroBitCount >> 3 }
      place &+= 8
    }
    while place < count, self[place] >= 0x20, self[place] < 0x7F, self[place] != mark { place &+= 1 }
    return place
  }
}
