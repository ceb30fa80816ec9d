/// Why a URL was refused.
public enum URLError: Error, Hashable, Sendable, CustomStringConvertible {
  case character
  case scheme
  case userInformation
  case host
  case port
  case escape

  /// A sentence about the error that is safe to show, because it contains no part of the URL.
  public var description: String {
    switch self {
    case .character:
      "the URL has a space, a backslash, a control or a non-ASCII character: escape it"
    case .scheme: "the URL must begin with a scheme and two slashes, like https://"
    case .userInformation: "the URL has a user name before the host: leave it out"
    case .host: "the URL's host is neither a name nor an address"
    case .port: "the URL's port is not a number from 1 to 65535"
    case .escape: "the URL has a percent sign that is not followed by two hexadecimal digits"
    }
  }
}

/// An absolute URL with a host, parsed strictly (RFC 3986), for redirect checks and for the HTTP client.
///
/// It refuses everything that browsers and servers are known to parse differently: user information, backslashes, tabs,
/// spaces, non-ASCII characters and unusual spellings of IPv4 addresses. The host that is checked here is therefore the
/// host to which a client connects.
public struct AbsoluteURL: Hashable, Sendable, CustomStringConvertible {
  /// The scheme of the URL in lower case.
  public let scheme: String
  public let host: HostName
  /// The port as written; nil if the URL has none.
  public let port: Int?
  /// The path as written: empty, or beginning with a slash.
  public let path: String
  /// The query as written, without the question mark.
  public let query: String?
  /// The fragment as written, without the hash sign.
  public let fragment: String?

  /// Parses a URL.
  ///
  /// - Throws: `URLError` for everything that two programs could parse differently.
  public init(parsing text: String) throws(URLError) {
    let bytes = Array(text.utf8)
    guard bytes.allSatisfy(Self.isAllowed) else { throw .character }
    guard Self.escapesAreWhole(bytes) else { throw .escape }
    guard let colon = bytes.firstIndex(of: Characters.colon), colon > 0,
      Characters.isLetter(bytes[0]), bytes[..<colon].allSatisfy(Self.isSchemeCharacter),
      bytes[(colon + 1)...].starts(with: "//".utf8)
    else { throw .scheme }
    let start = colon + 3
    let end = bytes[start...].firstIndex { $0 == 0x2F || $0 == 0x3F || $0 == 0x23 } ?? bytes.count
    let authority = bytes[start..<end]
    guard !authority.contains(UInt8(ascii: "@")) else { throw .userInformation }
    let (hostText, portText) = Self.split(authority: authority)
    guard let host = HostName(parsing: String(decoding: hostText, as: UTF8.self)) else {
      throw .host
    }
    var port: Int?
    if let portText {
      guard let value = IPAddress.decimal(portText, maximum: 65_535), value > 0 else {
        throw .port
      }
      port = value
    }
    let rest = bytes[end...]
    let hash = rest.firstIndex(of: UInt8(ascii: "#"))
    let beforeHash = rest[..<(hash ?? rest.endIndex)]
    let question = beforeHash.firstIndex(of: UInt8(ascii: "?"))
    let string = { (part: ArraySlice<UInt8>) in String(decoding: part, as: UTF8.self) }
    self.scheme = Characters.lowercased(string(bytes[..<colon]))
    self.host = host
    self.port = port
    self.path = string(beforeHash[..<(question ?? beforeHash.endIndex)])
    self.query = question.map { string(beforeHash[($0 + 1)...]) }
    self.fragment = hash.map { string(rest[($0 + 1)...]) }
  }

  /// The port to connect to: that of the URL, or the default port of http or https.
  public var effectivePort: Int? {
    port ?? Self.defaultPort(scheme)
  }

  /// The origin of the URL: scheme, host and port in canonical form, without a default port.
  ///
  /// URLs of the same origin have equal values.
  public var origin: String {
    guard let port, port != Self.defaultPort(scheme) else { return "\(scheme)://\(host)" }
    return "\(scheme)://\(host):\(port)"
  }

  /// The URL's path and query, as a request line contains them.
  ///
  /// The path has at least a slash.
  public var requestTarget: String {
    let path = path.isEmpty ? "/" : path
    return query.map { "\(path)?\($0)" } ?? path
  }

  /// The URL with scheme and host in lower case.
  public var description: String {
    var text = "\(scheme)://\(host)"
    if let port { text += ":\(port)" }
    text += path
    if let query { text += "?\(query)" }
    if let fragment { text += "#\(fragment)" }
    return text
  }

  private static func defaultPort(_ scheme: String) -> Int? {
    scheme == "https" ? 443 : scheme == "http" ? 80 : nil
  }

  private static func split(
    authority: ArraySlice<UInt8>
  ) -> (host: ArraySlice<UInt8>, port: ArraySlice<UInt8>?) {
    // Colons before the closing bracket belong to an IPv6 address and not to a port.
    let bracket = authority.lastIndex(of: UInt8(ascii: "]"))
    let searched = authority[(bracket ?? authority.startIndex)...]
    guard let colon = searched.lastIndex(of: Characters.colon) else { return (authority, nil) }
    return (authority[..<colon], authority[(colon + 1)...])
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case 0...0x20, 0x7F..., 0x22, 0x3C, 0x3E, Characters.backslash, 0x5E, 0x60, 0x7B...0x7D: false
    default: true
    }
  }

  private static func isSchemeCharacter(_ byte: UInt8) -> Bool {
    Characters.isLetter(byte) || byte.isDigit || byte == Characters.plus
      || byte == Characters.minus || byte == Characters.dot
  }

  private static func escapesAreWhole(_ bytes: [UInt8]) -> Bool {
    for index in bytes.indices where bytes[index] == Characters.percent {
      guard index + 2 < bytes.count, bytes[index + 1].hexValue != nil,
        bytes[index + 2].hexValue != nil
      else { return false }
    }
    return true
  }
}
