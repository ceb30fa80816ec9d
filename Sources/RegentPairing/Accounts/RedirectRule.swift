/// Where a browser may be sent back to after signing in.
///
/// An address is accepted on one of the requestor's domains (or below one), or when it is one that was registered,
/// with whatever scheme an app has of its own; scheme and host are compared without case (RFC 3986 §6.2.2.1). A
/// registered loopback address is accepted with any port, because an app
/// cannot choose which one is free (RFC 8252 §7.3). Everything doubtful is refused: browsers repair addresses, and
/// where they read another host than we do, whoever made the link decides where the viewer lands.
public struct RedirectRule: Sendable {
  private let domains: [String]
  private let addresses: [String]

  public init(_ requestor: Requestor) {
    self.init(domains: requestor.domains, addresses: requestor.redirectURIs)
  }

  /// A rule of domains and exact addresses.
  public init(domains: [String], addresses: [String]) {
    self.domains = domains.map(\.asciiLowercased)
    self.addresses = addresses
  }

  /// Whether a browser may be sent there.
  public func allows(_ address: String) -> Bool {
    if isRegistered(address) { return true }
    guard Self.isPlain(address), let target = WebAddress(address) else { return false }
    return domains.contains(where: target.isOn)
  }

  /// Whether it was registered itself: then a requestor needs no domain for it.
  public func isRegistered(_ address: String) -> Bool {
    guard Self.isPlain(address), Self.isFollowed(address) else { return false }
    if addresses.contains(where: { $0.withLowercaseOrigin == address.withLowercaseOrigin }) { return true }
    guard let target = WebAddress(address) else { return false }
    return addresses.contains { WebAddress($0)?.isSameLoopback(as: target) ?? false }
  }

  private static func isPlain(_ address: String) -> Bool {
    address.utf8.count <= 2048 && address.utf8.allSatisfy(\.isPlainInAddress)
  }

  /// Whether it begins like the address of a page or of an app.
  ///
  /// Browsers run some schemes as a program, or show a page of whoever sent them there: nobody may register those.
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

  /// Whether a name is one of the requestor's domains: what `domain_name` must be.
  public func knows(domain: String) -> Bool {
    domains.contains(domain.asciiLowercased)
  }
}

/// The parts of an `http` or `https` address that decide where a browser goes.
struct WebAddress {
  let scheme: String
  let host: String
  /// The path, query and fragment as written.
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

  /// The host without its port; names and addresses in the one plain form only, and never with a user name before it.
  private static func host(of authority: Substring) -> String? {
    if authority.hasPrefix("[") {
      // Only one literal is ever needed, so none has to be parsed.
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
  /// Where a short ASCII text first occurs.
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
  /// Visible ASCII except what browsers rewrite or what ends an attribute: a backslash counts as a slash to them.
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
