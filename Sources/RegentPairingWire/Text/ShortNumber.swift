extension Span<UInt8> {
  /// The number that is written here: digits alone, and so few that they cannot overflow.
  var number: Int64? {
    guard (1...15).contains(count) else { return nil }
    var number: Int64 = 0
    for place in indices {
      guard (0x30...0x39).contains(self[place]) else { return nil }
      number = number &* 10 &+ Int64(self[place] &- 0x30)
    }
    return number
  }
}
