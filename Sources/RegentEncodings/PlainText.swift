extension Span<UInt8> {
  /// Whether the UTF-8 bytes of `text` are at offset `start`.
  package func spells(_ text: String, from start: Int) -> Bool { has(text.utf8.span, from: start) }

  /// Whether the bytes of `other` are at offset `start`; compares eight bytes at a time.
  package func has(_ other: Span<UInt8>, from start: Int) -> Bool {
    let size = other.count
    guard start >= 0, size <= count &- start else { return false }
    guard size >= 8 else {
      for place in other.indices where other[place] != self[start &+ place] { return false }
      return true
    }
    var place = 0
    while true {
      let ours = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: start &+ place, as: UInt64.self)
      let theirs = unsafe other.bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self)
      guard ours == theirs else { return false }
      if place == size &- 8 { return true }
      // The last comparison of eight bytes may overlap the one before.
      place = min(place &+ 8, size &- 8)
    }
  }

  /// The offset of the first byte at or after `start` that is not printable ASCII (0x20 to 0x7E) or that equals `mark`;
  /// `count` if there is none.
  ///
  /// Checks eight bytes at a time.
  package func endOfPlainText(from start: Int, before mark: UInt8) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let marks = UInt64(mark) &* ones
    var place = start
    while count &- place >= 8 {
      let word = UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self))
      let marked = word ^ marks
      // Only the lowest bit that is set in `all` is reliable: the subtractions and additions may carry into the bytes
      // above it.
      let all = (word &- 0x20 &* ones) & ~word | word | (word &+ ones) | (marked &- ones) & ~marked
      let found = all & (0x80 &* ones)
      if found != 0 { return place &+ found.trailingZeroBitCount >> 3 }
      place &+= 8
    }
    while place < count, self[place] >= 0x20, self[place] < 0x7F, self[place] != mark { place &+= 1 }
    return place
  }
}
