/// The unit by which requests are counted for limits: an IPv4 address, or the /64 of an IPv6 address.
///
/// One subscriber has a whole IPv6 /64 (2⁶⁴ addresses), so limits per single address would not limit anything.
public struct SourceKey: Hashable, Sendable {
  private let bits: UInt64
  private let isVersion6: Bool

  /// Creates the key of an address from the address's 4 or 16 bytes in network byte order.
  public init?(address: [UInt8]) {
    switch address.count {
    case 4:
      self.init(bytes: address[...], isVersion6: false)
    case 16:
      // An address `::ffff:a.b.c.d` is an IPv4 client on a socket that accepts both versions.
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

  /// Whether this is an IPv6 /64.
  ///
  /// One subscriber can have many of these networks.
  var hasSubnetworks: Bool { isVersion6 }

  /// The larger network around this address, which one subscriber or one hosting customer may own as a whole: the IPv6
  /// /48 or the IPv4 /24.
  public var network: SourceKey { SourceKey(bits: isVersion6 ? bits >> 16 : bits >> 8, isVersion6: isVersion6) }

  /// The network of one subscriber, whose addresses cost nothing: the IPv4 address, or the IPv6 /48.
  public var subscriber: SourceKey { isVersion6 ? network : self }

  /// The text under which this key is stored, such as `4:c0000201` or `6:20010db800010002`.
  public var text: String {
    (isVersion6 ? "6:" : "4:") + String(bits, radix: 16)
  }

  /// Parses the stored text of a key.
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
