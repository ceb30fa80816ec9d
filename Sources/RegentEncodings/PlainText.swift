extension Span<UInt8> {
  /// Whether the bytes of a text stand at a place.
  package func spells(_ text: String, from start: Int) -> Bool { has(text.utf8.span, from: start) }

  /// Whether other bytes stand at a place; eight are compared at once.
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
      // The last eight may be some that were compared before.
      place = min(place &+ 8, size &- 8)
    }
  }

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
