/// An IPv4 or IPv6 address.
///
/// A mapped address such as `::ffff:192.0.2.1`, which a socket for both families reports for IPv4 clients, becomes the
/// IPv4 address. Otherwise one client would have two rate limits, or could get past a list of networks.
public struct IPAddress: Sendable, Hashable {
  /// The first eight bytes of the address as a big-endian number; 0 for IPv4.
  public let high: UInt64
  /// The last eight bytes of the address as a big-endian number.
  ///
  /// For IPv4 the low 32 bits are the address.
  public let low: UInt64
  public let isIPv4: Bool

  /// Makes an IPv4 address from its 32 bits, of which the highest are its first byte.
  public init(ipv4 bits: UInt32) {
    high = 0
    low = UInt64(bits)
    isIPv4 = true
  }

  /// Makes an IPv6 address from its two halves.
  ///
  /// A mapped IPv4 address becomes IPv4.
  public init(high: UInt64, low: UInt64) {
    isIPv4 = high == 0 && low >> 32 == 0xFFFF
    self.high = high
    self.low = isIPv4 ? low & 0xFFFF_FFFF : low
  }

  /// Parses an address strictly: four decimal parts without leading zeros, or RFC 4291 text without a zone; nil
  /// otherwise.
  public init?(_ text: some StringProtocol) {
    self.init(bytes: Array(text.utf8)[...])
  }

  init?(bytes: ArraySlice<UInt8>) {
    if let bits = Self.parseV4(bytes) {
      self.init(ipv4: bits)
    } else if let halves = Self.parseV6(bytes) {
      self.init(high: halves.high, low: halves.low)
    } else {
      return nil
    }
  }

  public static var loopback: IPAddress { IPAddress(ipv4: 0x7F00_0001) }

  /// Whether the address is in 127.0.0.0/8 or is ::1.
  public var isLoopback: Bool { isIPv4 ? low >> 24 == 127 : high == 0 && low == 1 }

  /// Whether this is 0.0.0.0 or ::, on which a server listens on all addresses of the machine.
  public var isUnspecified: Bool { high == 0 && low == 0 }

  /// The address by which rate limits count this client: the IPv4 address, or the /64 of an IPv6 address, because a
  /// host can use any address in its /64.
  public var source: IPAddress { isIPv4 ? self : network(leadingBits: 64) }

  /// The number of bits in an address of this family.
  public var width: Int { isIPv4 ? 32 : 128 }

  /// The first address of the network that has this prefix length and contains this address.
  public func network(leadingBits: Int) -> IPAddress {
    let kept = min(max(leadingBits, 0), width)
    // The shift is also right for the prefix lengths 0 and 128, because Swift's `<<` by 64 or more gives zero.
    if isIPv4 { return IPAddress(ipv4: UInt32(low) & UInt32.max << (32 - kept)) }
    return IPAddress(
      high: high & UInt64.max << max(0, 64 - kept), low: low & UInt64.max << (128 - max(kept, 64)))
  }
}

extension IPAddress: CustomStringConvertible {
  /// The canonical text of the address: dotted decimal for IPv4, RFC 5952 for IPv6.
  public var description: String {
    if isIPv4 { return dotted }
    let groups = [high, low].flatMap { half in
      [48, 32, 16, 0].map { UInt16(truncatingIfNeeded: half >> $0) }
    }
    // RFC 5952 section 4.2: the longest run of at least two zero groups becomes `::`; of equal runs, the first.
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

extension IPAddress {
  /// The dotted decimal text of an IPv4 address, written in one pass.
  ///
  /// The service formats an address for each new code, and joining five strings takes ten times as long.
  private var dotted: String {
    unsafe String(unsafeUninitializedCapacity: 15) { text in
      var (end, shift) = (0, 32)
      while shift > 0 {
        shift -= 8
        let part = UInt8(truncatingIfNeeded: low >> UInt64(shift))
        func put(_ byte: UInt8) {
          unsafe text[end] = byte
          end += 1
        }
        if part >= 100 { put(0x30 + part / 100) }
        if part >= 10 { put(0x30 + part / 10 % 10) }
        put(0x30 + part % 10)
        if shift > 0 { put(Characters.dot) }
      }
      return end
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

  static func parseV6(_ text: ArraySlice<UInt8>) -> (high: UInt64, low: UInt64)? {
    guard text.count >= 2, text.count <= 45 else { return nil }
    // There may be one `::` in the text. On each side of it is a plain list of groups.
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

  /// Parses a decimal number without leading zeros or a sign.
  static func decimal(_ digits: ArraySlice<UInt8>, maximum: Int) -> Int? {
    guard let first = digits.first, digits.count == 1 || first != Characters.zero,
      digits.count <= 5
    else { return nil }
    var value = 0
    for digit in digits {
      guard digit.isDigit else { return nil }
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
        guard let value = digit.hexValue else { return nil }
        group = group << 4 | UInt16(value)
      }
      groups.append(group)
    }
    return groups.count <= 8 ? groups : nil
  }

  private static func joined(_ groups: [UInt16]) -> (high: UInt64, low: UInt64) {
    let half = { (part: ArraySlice<UInt16>) in part.reduce(0) { $0 << 16 | UInt64($1) } }
    return (half(groups[..<4]), half(groups[4...]))
  }
}
