internal import CLinux
internal import Glibc

/// An IPv4 or IPv6 address.
///
/// An IPv4 address mapped into IPv6 (`::ffff:192.0.2.1`) is the IPv4 address itself.
public struct IPAddress: Sendable, Hashable {
  /// The first eight bytes as a big-endian number; 0 for IPv4.
  public let high: UInt64
  /// The last eight bytes as a big-endian number; for IPv4 the address in the low 32 bits.
  public let low: UInt64
  /// Whether it is an IPv4 address.
  public let isIPv4: Bool

  /// An IPv4 address from its 32 bits, the first byte on top.
  public init(ipv4 bits: UInt32) {
    high = 0
    low = UInt64(bits)
    isIPv4 = true
  }

  /// An IPv6 address from its two halves; a mapped IPv4 address becomes IPv4.
  public init(high: UInt64, low: UInt64) {
    isIPv4 = high == 0 && low >> 32 == 0xFFFF
    self.high = high
    self.low = isIPv4 ? low & 0xFFFF_FFFF : low
  }

  /// An address from its usual text (`192.0.2.1`, `2001:db8::1`, no brackets, no port, no zone), or nil.
  public init?(_ text: String) {
    guard text.utf8.count < 46, !text.utf8.contains(0) else { return nil }
    var four = in_addr()
    var six = in6_addr()
    if unsafe inet_pton(AF_INET, text, &four) == 1 {
      self.init(ipv4: UInt32(bigEndian: four.s_addr))
    } else if unsafe inet_pton(AF_INET6, text, &six) == 1 {
      self.init(six)
    } else {
      return nil
    }
  }

  init(_ address: in6_addr) {
    let halves = unsafe unsafeBitCast(address, to: (UInt64, UInt64).self)
    self.init(high: UInt64(bigEndian: halves.0), low: UInt64(bigEndian: halves.1))
  }

  var in6: in6_addr {
    unsafe unsafeBitCast((high.bigEndian, low.bigEndian), to: in6_addr.self)
  }

  /// 127.0.0.0/8 or ::1.
  public var isLoopback: Bool {
    isIPv4 ? low >> 24 == 127 : high == 0 && low == 1
  }

  /// 0.0.0.0 or ::, every address of the machine.
  public var isUnspecified: Bool { high == 0 && low == 0 }

  /// 127.0.0.1.
  public static var loopback: IPAddress { IPAddress(ipv4: 0x7F00_0001) }

  /// What limits count by: the IPv4 address, or the /64 an IPv6 host can choose from freely.
  public var source: IPAddress { isIPv4 ? self : IPAddress(high: high, low: 0) }
}

extension IPAddress: CustomStringConvertible {
  /// The usual text.
  public var description: String {
    if isIPv4 {
      return "\(low >> 24 & 255).\(low >> 16 & 255).\(low >> 8 & 255).\(low & 255)"
    }
    var address = in6
    var text = [CChar](repeating: 0, count: 46)
    guard unsafe inet_ntop(AF_INET6, &address, &text, 46) != nil else { return "::" }
    let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
