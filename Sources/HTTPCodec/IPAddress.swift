/// An IPv4 or IPv6 address.
///
/// An IPv4 address that arrives as `::ffff:192.0.2.1` on a socket for both families is the IPv4 address: two spellings
/// of one client must not give it two budgets, or slip it past a list of networks.
public enum IPAddress: Hashable, Sendable, CustomStringConvertible {
  case v4(UInt32)
  case v6(UInt128)

  /// An IPv4 address, the first byte in the highest bits.
  public init(v4 bits: UInt32) {
    self = .v4(bits)
  }

  /// An IPv6 address; one that only maps IPv4 becomes that IPv4 address.
  public init(v6 bits: UInt128) {
    self = bits >> 32 == 0xFFFF ? .v4(UInt32(truncatingIfNeeded: bits)) : .v6(bits)
  }

  /// Reads an address strictly: four decimal parts without leading zeros, or RFC 4291 text without a zone.
  public init?(parsing text: some StringProtocol) {
    let bytes = Array(text.utf8)
    if let bits = Self.parseV4(bytes[...]) {
      self = .v4(bits)
    } else if let bits = Self.parseV6(bytes[...]) {
      self.init(v6: bits)
    } else {
      return nil
    }
  }

  /// Whether it is 127.0.0.0/8 or ::1.
  public var isLoopback: Bool {
    switch self {
    case .v4(let bits): bits >> 24 == 127
    case .v6(let bits): bits == 1
    }
  }

  /// How many bits an address of this family has.
  public var width: Int {
    switch self {
    case .v4: 32
    case .v6: 128
    }
  }

  /// The first address of the network with that many leading bits, for budgets by network.
  public func network(leadingBits: Int) -> IPAddress {
    let kept = min(max(leadingBits, 0), width)
    switch self {
    case .v4(let bits): return .v4(kept == 0 ? 0 : bits & (UInt32.max << UInt32(32 - kept)))
    case .v6(let bits): return .v6(kept == 0 ? 0 : bits & (UInt128.max << UInt128(128 - kept)))
    }
  }

  /// The canonical text: dotted decimal, or RFC 5952 for IPv6.
  public var description: String {
    switch self {
    case .v4(let bits):
      return "\(bits >> 24).\(bits >> 16 & 255).\(bits >> 8 & 255).\(bits & 255)"
    case .v6(let bits):
      return Self.textV6(bits)
    }
  }

  static func parseV4(_ text: ArraySlice<UInt8>) -> UInt32? {
    guard text.count <= 15 else { return nil }
    let parts = text.split(separator: Characters.dot, omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var bits: UInt32 = 0
    for part in parts {
      guard let value = decimal(part, maximum: 255) else { return nil }
      bits = bits << 8 | UInt32(value)
    }
    return bits
  }

  static func parseV6(_ text: ArraySlice<UInt8>) -> UInt128? {
    guard text.count >= 2, text.count <= 45 else { return nil }
    // At most one `::`; each side is a plain list of groups.
    var sides: [ArraySlice<UInt8>] = []
    var index = text.startIndex
    var start = index
    while index < text.endIndex {
      if text[index] == Characters.colon, index + 1 < text.endIndex,
        text[index + 1] == Characters.colon
      {
        sides.append(text[start..<index])
        index += 2
        start = index
      } else {
        index += 1
      }
    }
    sides.append(text[start...])
    guard sides.count <= 2, let head = groups(sides[0], mayEndInV4: sides.count == 1) else {
      return nil
    }
    if sides.count == 1 { return head.count == 8 ? joined(head) : nil }
    guard let tail = groups(sides[1], mayEndInV4: true), head.count + tail.count <= 7 else {
      return nil
    }
    return joined(head + Array(repeating: 0, count: 8 - head.count - tail.count) + tail)
  }

  /// A decimal number without leading zeros or a sign.
  static func decimal(_ digits: ArraySlice<UInt8>, maximum: Int) -> Int? {
    guard let first = digits.first, digits.count == 1 || first != Characters.zero,
      digits.count <= 5
    else { return nil }
    var value = 0
    for digit in digits {
      guard Characters.isDigit(digit) else { return nil }
      value = value * 10 + Int(digit - Characters.zero)
    }
    return value <= maximum ? value : nil
  }

  private static func groups(_ text: ArraySlice<UInt8>, mayEndInV4: Bool) -> [UInt16]? {
    if text.isEmpty { return [] }
    let parts = text.split(separator: Characters.colon, omittingEmptySubsequences: false)
    var groups: [UInt16] = []
    for (position, part) in parts.enumerated() {
      if mayEndInV4, position == parts.count - 1, part.contains(Characters.dot) {
        guard let bits = parseV4(part) else { return nil }
        groups.append(UInt16(truncatingIfNeeded: bits >> 16))
        groups.append(UInt16(truncatingIfNeeded: bits))
        continue
      }
      guard (1...4).contains(part.count) else { return nil }
      var group: UInt16 = 0
      for digit in part {
        guard let value = Characters.hexValue(digit) else { return nil }
        group = group << 4 | UInt16(value)
      }
      groups.append(group)
    }
    return groups.count <= 8 ? groups : nil
  }

  private static func joined(_ groups: [UInt16]) -> UInt128 {
    groups.reduce(0) { $0 << 16 | UInt128($1) }
  }

  private static func textV6(_ bits: UInt128) -> String {
    let groups = (0..<8).map { UInt16(truncatingIfNeeded: bits >> UInt128(112 - 16 * $0)) }
    // RFC 5952 §4.2: the longest run of two or more zero groups becomes `::`, the first one when equal.
    var longest = 0..<0
    var start = 0
    for index in 0...8 where index == 8 || groups[index] != 0 {
      if index - start > max(longest.count, 1) { longest = start..<index }
      start = index + 1
    }
    let text = { (part: Range<Int>) in
      part.map { String(groups[$0], radix: 16) }.joined(separator: ":")
    }
    if longest.isEmpty { return text(0..<8) }
    return "\(text(0..<longest.lowerBound))::\(text(longest.upperBound..<8))"
  }
}
