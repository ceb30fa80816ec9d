/// Where a request comes from, as far as limits care: an IPv4 address, or the /64 of an IPv6 address.
///
/// One subscriber has a whole /64 (2⁶⁴ addresses): counting single addresses would count nothing.
public struct SourceKey: Hashable, Sendable {
  private let bits: UInt64
  private let isVersion6: Bool

  /// The key of an address given as its 4 or 16 bytes in network order.
  public init?(address: [UInt8]) {
    switch address.count {
    case 4:
      self.init(bytes: address[...], isVersion6: false)
    case 16:
      // ::ffff:a.b.c.d is an IPv4 peer on a socket that listens for both.
      let mapped =
        address.prefix(10).allSatisfy { $0 == 0 } && address[10] == 0xFF && address[11] == 0xFF
      if mapped {
        self.init(bytes: address[12...], isVersion6: false)
      } else {
        self.init(bytes: address[..<8], isVersion6: true)
      }
    default:
      return nil
    }
  }

  /// Whether it is a part of something that one subscriber may have as a whole.
  var hasSubnetworks: Bool { isVersion6 }

  /// What one subscriber, or one pool of a botnet's host, may have as a whole: the /48 of IPv6, the /24 of IPv4.
  public var network: SourceKey { SourceKey(bits: isVersion6 ? bits >> 16 : bits >> 8, isVersion6: isVersion6) }

  /// A form to keep: `4:c0000201`, `6:20010db800010002`.
  public var text: String {
    (isVersion6 ? "6:" : "4:") + String(bits, radix: 16)
  }

  /// Reads the form to keep.
  public init?(text: String) {
    guard let bits = UInt64(text.dropFirst(2), radix: 16) else { return nil }
    switch text.prefix(2) {
    case "4:" where bits <= UInt32.max: self.init(bits: bits, isVersion6: false)
    case "6:": self.init(bits: bits, isVersion6: true)
    default: return nil
    }
  }

  private init(bits: UInt64, isVersion6: Bool) {
    self.bits = bits
    self.isVersion6 = isVersion6
  }

  private init(bytes: ArraySlice<UInt8>, isVersion6: Bool) {
    bits = bytes.reduce(0) { $0 << 8 | UInt64($1) }
    self.isVersion6 = isVersion6
  }
}
