/// Decides whether a browser may be redirected to an address after signing in.
///
/// An address is allowed if its host is one of the requestor's domains or below one, or if the address itself is
/// registered; a registered address may have the app's own scheme. Scheme and host are compared without case (RFC
/// 3986 §6.2.2.1). A registered loopback address is allowed with any port, because an app cannot choose which port is
/// free (RFC 8252 §7.3).
///
/// Ambiguous addresses are refused. Browsers repair malformed addresses; if a browser read another host than this
/// code does, an attacker's link could send the viewer to the attacker's site.
public struct RedirectRule: Sendable {
  private let domains: [String]
  private let addresses: [String]

  public init(_ requestor: Requestor) {
    self.init(domains: requestor.domains, addresses: requestor.redirectURIs)
  }

  public init(domains: [String], addresses: [String]) {
    self.domains = domains.map(\.asciiLowercased)
    self.addresses = addresses
  }

  /// Whether a browser may be redirected to this address.
  public func allows(_ address: String) -> Bool {
    if isRegistered(address) { return true }
    guard Self.isPlain(address), let target = WebAddress(address) else { return false }
    return domains.contains(where: target.isOn)
  }

  /// Whether this exact address is registered.
  ///
  /// A registered address need not be on one of the requestor's domains.
  public func isRegistered(_ address: String) -> Bool {
    guard Self.isPlain(address), Self.isFollowed(address) else { return false }
    if addresses.contains(where: { $0.withLowercaseOrigin == address.withLowercaseOrigin }) { return true }
    guard let target = WebAddress(address) else { return false }
    return addresses.contains { WebAddress($0)?.isSameLoopback(as: target) ?? false }
  }

  private static func isPlain(_ address: String) -> Bool {
    address.utf8.count <= 2048 && address.utf8.allSatisfy(\.isPlainInAddress)
  }

  /// Whether the address has a scheme that may be registered: that of a web page or of an app.
  ///
  /// Refused are schemes that browsers execute (`javascript:`) or with which a page could show its own content as
  /// another site's (`data:`, `blob:`).
  public static func isFollowed(_ address: String) -> Bool {
    guard let end = address.firstRange(of: "://") else { return false }
    let scheme = String(address[..<end.lowerBound]).asciiLowercased
    guard let first = scheme.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first),
      scheme.utf8.allSatisfy({ $0.isInHostName || $0 == UInt8(ascii: "+") })
    else { return false }
    let notFollowed = [
      "javascript", "vbscript", "data", "file", "blob", "filesystem", "about", "view-source", "ftp", "ws", "wss",
      "chrome", "intent",
    ]
    return !notFollowed.contains(scheme)
  }

  /// Whether `domain` is one of the requestor's domains, as the protocol's parameter `domain_name` must be.
  public func knows(domain: String) -> Bool {
    domains.contains(domain.asciiLowercased)
  }
}

struct WebAddress {
  let scheme: String
  let host: String
  let rest: Substring

  init?(_ text: String) {
    guard let end = text.range(of: "://") else { return nil }
    scheme = String(text[..<end.lowerBound]).asciiLowercased
    guard scheme == "http" || scheme == "https" else { return nil }
    let afterScheme = text[end.upperBound...]
    let authority = afterScheme.prefix { !"/?#".contains($0) }
    rest = afterScheme[authority.endIndex...]
    guard let host = Self.host(of: authority) else { return nil }
    self.host = host
  }

  /// The host without its port.
  ///
  /// Accepts plain names, IPv4 addresses and `[::1]`; refuses a user name before the host.
  private static func host(of authority: Substring) -> String? {
    if authority.hasPrefix("[") {
      // `[::1]` is the only IPv6 literal that is accepted, so no other has to be parsed.
      guard authority.hasPrefix("[::1]"), isPort(authority.dropFirst(5)) else { return nil }
      return "[::1]"
    }
    let name = authority.prefix { $0 != ":" }
    guard !name.isEmpty, isPort(authority[name.endIndex...]) else { return nil }
    guard name.utf8.allSatisfy(\.isInHostName), !name.hasPrefix("."), !name.hasSuffix(".") else {
      return nil
    }
    return String(name).asciiLowercased
  }

  private static func isPort(_ text: Substring) -> Bool {
    guard !text.isEmpty else { return true }
    let digits = text.dropFirst()
    guard text.first == ":", (1...5).contains(digits.utf8.count) else { return false }
    guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return false }
    return UInt16(digits) != nil
  }

  func isOn(_ domain: String) -> Bool {
    !domain.isEmpty && (host == domain || host.hasSuffix("." + domain))
  }

  func isSameLoopback(as other: WebAddress) -> Bool {
    ["127.0.0.1", "[::1]", "localhost"].contains(host) && host == other.host
      && scheme == other.scheme && rest == other.rest
  }
}

extension String {
  fileprivate func range(of piece: String) -> Range<String.Index>? {
    var start = startIndex
    while start < endIndex {
      if self[start...].hasPrefix(piece) { return start..<index(start, offsetBy: piece.count) }
      start = index(after: start)
    }
    return nil
  }
}

extension UInt8 {
  /// Whether the byte is visible ASCII that is safe in a redirect address.
  ///
  /// Browsers read a backslash as a slash; quotation marks and angle brackets could end an HTML attribute.
  fileprivate var isPlainInAddress: Bool {
    switch self {
    case UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"): false
    case 0x21...0x7E: true
    default: false
    }
  }

  fileprivate var isInHostName: Bool {
    switch asciiLowercased {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "-"), UInt8(ascii: "."):
      true
    default: false
    }
  }
}
