/// Why the text of a network was refused.
public enum IPNetworkError: Error, Hashable, Sendable, CustomStringConvertible {
  case notAnAddress(String)
  case badLength(String)
  case hostBitsSet(String, network: String)

  /// A sentence about the error that says what to write.
  public var description: String {
    switch self {
    case .notAnAddress(let text):
      "'\(text)' is not a network: write it like 10.0.0.0/8, 192.0.2.7 or fd00::/8"
    case .badLength(let text):
      "'\(text)' has an impossible length after the slash: IPv4 has 0 to 32, IPv6 0 to 128"
    case .hostBitsSet(let text, let network):
      "'\(text)' is an address inside a network, not a network: did you mean \(network)?"
    }
  }
}

/// A network in CIDR notation; an address without a prefix length is the network of that one address.
public struct IPNetwork: Hashable, Sendable, CustomStringConvertible {
  /// The first address of the network.
  public let base: IPAddress
  /// The prefix length of the network.
  public let leadingBits: Int

  /// Parses a network such as `10.0.0.0/8` or `fd00::/8`, or a single address.
  public init(parsing text: String) throws(IPNetworkError) {
    let pieces = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = IPAddress(pieces[0]) else { throw .notAnAddress(text) }
    guard pieces.count == 2 else {
      base = address
      leadingBits = address.width
      return
    }
    guard var length = IPAddress.decimal(Array(pieces[1].utf8)[...], maximum: 128) else {
      throw .badLength(text)
    }
    // Operators write `::ffff:10.0.0.0/104` for sockets that report IPv4 clients as IPv6. Such addresses become IPv4
    // here.
    if address.isIPv4, pieces[0].utf8.contains(Characters.colon) {
      guard length >= 96 else { throw .badLength(text) }
      length -= 96
    }
    guard length <= address.width else { throw .badLength(text) }
    let first = address.network(leadingBits: length)
    guard first == address else { throw .hostBitsSet(text, network: "\(first)/\(length)") }
    base = address
    leadingBits = length
  }

  /// Whether the address is in the network; an IPv4 address is never in an IPv6 network, nor an IPv6 address in an IPv4
  /// network.
  public func contains(_ address: IPAddress) -> Bool {
    address.isIPv4 == base.isIPv4 && address.network(leadingBits: leadingBits) == base
  }

  /// The network in CIDR notation.
  public var description: String { "\(base)/\(leadingBits)" }
}
