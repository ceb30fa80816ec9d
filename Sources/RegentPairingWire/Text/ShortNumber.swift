extension Span<UInt8> {
  /// The decimal number that these bytes spell, or `nil`.
  ///
  /// At most 15 digits are accepted, so that the number cannot overflow.
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
