import RegentPlatform

/// Looks up a name under `.local`, which only the machine with that name answers (RFC 6762).
///
/// Any machine on the network can claim the name. With https the certificate shows whether it is the right one.
enum LocalNames {
  /// The maximum number of addresses that are used.
  static let mostAddresses = 8

  /// Whether a name is looked up by multicast DNS.
  static func contains(_ name: String) -> Bool { query(name) != nil }

  /// The addresses that the machine with this name sends, which may take 1.2 seconds; empty without an answer.
  static func addresses(
    of name: String, port: UInt16, at place: (group: UInt32, port: UInt16) = MulticastQuery.everybody
  ) -> [SocketAddress] {
    guard let asked = query(name) else { return [] }
    // Random, so that only a machine that received the query can answer it.
    let id = UInt16.random(in: .min ... .max)
    var found: [SocketAddress] = []
    try? MulticastQuery.perform(at: place, questions: { [DNSAnswer.question(id, asked, [.address, .address6])] }) {
      guard let answer = DNSAnswer($0, to: id) else { return false }
      for case .address(of: asked, let bytes) in answer.records where found.count < mostAddresses {
        if let address = usable(bytes, port) { found.append(address) }
      }
      return !found.isEmpty
    }
    return found
  }

  private static func query(_ name: String) -> DNSName? {
    let asked = DNSName(name)
    guard asked.labels.count > 1,
      asked.labels.last.map({ String(decoding: $0, as: UTF8.self).lowercased() }) == "local",
      asked.labels.allSatisfy({ $0.count < 64 }), asked.bytes.count <= 255
    else { return nil }
    return asked
  }

  /// The address if it can belong to another machine, otherwise nil.
  ///
  /// A link-local IPv6 address would need the network's zone, which the answer does not contain.
  static func usable(_ bytes: [UInt8], _ port: UInt16) -> SocketAddress? {
    switch bytes.count {
    case 4:
      guard bytes[0] != 0, bytes[0] != 127, bytes[0] < 224 else { return nil }
      return SocketAddress(ipv4: bytes.reduce(0) { $0 << 8 | UInt32($1) }, port: port)
    case 16:
      let (high, low) = (
        bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }, bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
      )
      // Global unicast (2000::/3) and unique local addresses (fc00::/7).
      guard bytes[0] >> 5 == 1 || bytes[0] >> 1 == 0x7E else { return nil }
      return SocketAddress(ipv6: (high, low), port: port)
    default: return nil
    }
  }
}
