/// The host of a URL or of a `Host` header: a name or an IP address.
public enum HostName: Hashable, Sendable, CustomStringConvertible {
  case name(String)
  case address(IPAddress)

  /// Parses a host; an IPv6 address must be in brackets.
  ///
  /// Names are converted to lower case. They must consist of letters, digits, `-` and `_`, with single dots between the
  /// labels. A last label that looks like a number is refused unless the whole text is an IPv4 address with four
  /// decimal parts: resolvers read `0x7f.1` and `2130706433` as 127.0.0.1, and attackers use that to get past lists of
  /// allowed hosts.
  public init?(parsing text: some StringProtocol) {
    let bytes = Array(text.utf8)
    if bytes.first == UInt8(ascii: "[") {
      guard bytes.last == UInt8(ascii: "]"),
        let halves = IPAddress.parseV6(bytes.dropFirst().dropLast())
      else { return nil }
      self = .address(IPAddress(high: halves.high, low: halves.low))
      return
    }
    if let bits = IPAddress.parseV4(bytes[...]) {
      self = .address(IPAddress(ipv4: bits))
      return
    }
    guard bytes.count <= 253 else { return nil }
    let labels = bytes.split(separator: Characters.dot, omittingEmptySubsequences: false)
    guard labels.allSatisfy(Self.isLabel), let last = labels.last, !Self.looksLikeNumber(last)
    else { return nil }
    self = .name(Characters.lowercased(text))
  }

  /// The host as it is written in a URL: in lower case, IPv6 in brackets.
  public var description: String {
    switch self {
    case .name(let name): name
    case .address(let address): address.isIPv4 ? "\(address)" : "[\(address)]"
    }
  }

  /// Whether the host is `localhost` or a loopback address.
  public var isLoopback: Bool {
    switch self {
    case .name(let name): name == "localhost"
    case .address(let address): address.isLoopback
    }
  }

  /// Whether the host name equals a domain or is a subdomain of it; false for addresses.
  public func isWithin(domain: String) -> Bool {
    guard case .name(let name) = self, case .name(let domain)? = HostName(parsing: domain) else {
      return false
    }
    return name == domain || name.hasSuffix(".\(domain)")
  }

  private static func isLabel(_ label: ArraySlice<UInt8>) -> Bool {
    (1...63).contains(label.count) && label.first != Characters.minus
      && label.last != Characters.minus
      && label.allSatisfy {
        Characters.isLetter($0) || $0.isDigit || $0 == Characters.minus || $0 == 0x5F
      }
  }

  private static func looksLikeNumber(_ label: ArraySlice<UInt8>) -> Bool {
    if label.allSatisfy(\.isDigit) { return true }
    return label.count >= 2 && label.first == Characters.zero
      && label[label.startIndex + 1].lowered == UInt8(ascii: "x")
      && label.dropFirst(2).allSatisfy { $0.hexValue != nil }
  }
}
