/// Where a call goes: a scheme, a host and a port, or a Unix socket.
public struct Origin: Hashable, Sendable {
  /// How the bytes travel.
  public enum Scheme: Hashable, Sendable {
    /// In the clear over TCP.
    case http
    /// Over TLS.
    case https
    /// Over a Unix socket of this machine.
    case unix
  }

  /// How the bytes travel.
  public let scheme: Scheme
  /// The host in lower case, an IPv6 address without its brackets; for a Unix socket its path.
  public let host: String
  /// The port; 0 for a Unix socket.
  public let port: UInt16

  init(scheme: Scheme, host: String, port: UInt16) {
    self.scheme = scheme
    self.host = host
    self.port = port
  }

  /// What the Host header says.
  var authority: String {
    guard scheme != .unix else { return "localhost" }
    let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
    return port == scheme.defaultPort ? name : "\(name):\(port)"
  }
}

extension Origin.Scheme {
  var defaultPort: UInt16 {
    switch self {
    case .http: 80
    case .https: 443
    case .unix: 0
    }
  }
}

extension Origin: CustomStringConvertible {
  /// The origin as the beginning of a URL; it never holds a path, a query or a password.
  public var description: String {
    switch scheme {
    case .http: "http://\(authority)"
    case .https: "https://\(authority)"
    case .unix: "unix:\(host)"
    }
  }
}

/// A URL that can be called: checked once, so that nothing inside it can change the bytes around it.
public struct ClientURL: Hashable, Sendable {
  /// Where the call goes.
  public let origin: Origin
  /// Path and query as they are sent.
  public let target: String

  /// Reads `http://HOST[:PORT]/PATH?QUERY` or the same with https.
  ///
  /// A fragment is left out.
  ///
  /// - Parameter text: the URL; names and passwords in it, white space and other than visible ASCII are refused.
  /// - Throws: `ClientError` of kind `.invalidRequest`.
  public init(_ text: String) throws(ClientError) {
    guard let mark = text.firstRange(of: "://") else {
      throw ClientError.invalid("\"\(text.shownBriefly)\" is not a URL with http:// or https://")
    }
    let scheme: Origin.Scheme
    switch text[..<mark.lowerBound].lowercased() {
    case "http": scheme = .http
    case "https": scheme = .https
    default: throw ClientError.invalid("only http and https URLs can be called")
    }
    let rest = text[mark.upperBound...].prefix { $0 != "#" }
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    origin = try Origin(scheme: scheme, authority: authority)
    target = try ClientURL.checkedTarget(rest.dropFirst(authority.count))
  }

  /// A call over a Unix socket.
  ///
  /// - Parameters:
  ///   - path: the socket's path, or "@" and an abstract name.
  ///   - target: path and query of the request.
  /// - Throws: `ClientError` of kind `.invalidRequest`.
  public init(unixSocket path: String, target: String) throws(ClientError) {
    guard path.hasPrefix("/") || path.hasPrefix("@") || path.hasPrefix("."), path.utf8.count < 108,
      !path.utf8.contains(0)
    else {
      throw ClientError.invalid("\"\(path.shownBriefly)\" cannot be the path of a Unix socket")
    }
    origin = Origin(scheme: .unix, host: path, port: 0)
    self.target = try ClientURL.checkedTarget(target[...])
  }

  private init(origin: Origin, target: String) {
    self.origin = origin
    self.target = target
  }

  /// The URL that a reference, as found in a Location header, means when it comes from this one.
  ///
  /// - Parameter reference: an absolute URL, a path or a query.
  /// - Returns: the URL to call.
  /// - Throws: `ClientError` of kind `.invalidRequest`.
  public func resolving(_ reference: String) throws(ClientError) -> ClientURL {
    let reference = reference.prefix { $0 != "#" }
    if reference.hasPrefix("//") {
      guard origin.scheme != .unix else { throw ClientError.invalid("it leaves the Unix socket") }
      return try ClientURL((origin.scheme == .https ? "https:" : "http:") + reference)
    }
    let beforePath = reference.prefix { $0 != "/" && $0 != "?" }
    if beforePath.contains(":") { return try ClientURL(String(reference)) }
    let path = target.prefix { $0 != "?" }
    let full: String
    switch reference.first {
    case nil: full = String(target)
    case "/": full = withoutDotSegments(reference)
    case "?": full = String(path + reference)
    default:
      let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "/"
      full = withoutDotSegments((folder + reference)[...])
    }
    return ClientURL(origin: origin, target: try ClientURL.checkedTarget(full[...]))
  }

  private static func checkedTarget(_ text: Substring) throws(ClientError) -> String {
    // A line end here would begin a header of the writer's choice; a space would end the target.
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "#") }) else {
      throw ClientError.invalid("the path or query holds a character that must be percent-encoded")
    }
    return text.hasPrefix("/") ? String(text) : "/" + text
  }
}

extension ClientURL: CustomStringConvertible {
  /// The URL without its query, which may hold a secret.
  public var description: String {
    origin.description + target.prefix { $0 != "?" }
  }
}

extension Origin {
  fileprivate init(scheme: Scheme, authority: Substring) throws(ClientError) {
    let bytes = Array(authority.utf8)
    guard !bytes.contains(UInt8(ascii: "@")) else {
      throw ClientError.invalid("a name or password inside a URL is refused")
    }
    let isBracketed = bytes.first == UInt8(ascii: "[")
    let host: ArraySlice<UInt8>
    let rest: ArraySlice<UInt8>
    if isBracketed {
      guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else {
        throw ClientError.invalid("the address in brackets has no end")
      }
      host = bytes[1..<end]
      rest = bytes[(end + 1)...]
    } else {
      let end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
      host = bytes[..<end]
      rest = bytes[end...]
    }
    let isName = host.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."):
        true
      case UInt8(ascii: "-"), UInt8(ascii: "_"): !isBracketed
      case UInt8(ascii: ":"): isBracketed
      default: false
      }
    }
    guard isName, (1...255).contains(host.count) else {
      throw ClientError.invalid(
        "\"\(String(authority).shownBriefly)\" is not a host name or address")
    }
    self.scheme = scheme
    self.host = String(decoding: host, as: UTF8.self).lowercased()
    guard let colon = rest.first else {
      port = scheme.defaultPort
      return
    }
    let digits = String(decoding: rest.dropFirst(), as: UTF8.self)
    guard colon == UInt8(ascii: ":"), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = UInt16(digits), number > 0
    else { throw ClientError.invalid("\"\(digits.shownBriefly)\" is not a port") }
    port = number
  }
}

/// Removes "." and ".." from a path (RFC 3986 section 5.2.4); the query stays as it is.
private func withoutDotSegments(_ target: Substring) -> String {
  let path = target.prefix { $0 != "?" }
  var kept: [Substring] = []
  let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
  for (index, segment) in segments.enumerated() {
    let isLast = index == segments.count - 1
    switch segment {
    case ".": if isLast { kept.append("") }
    case "..":
      if !kept.isEmpty { kept.removeLast() }
      if isLast { kept.append("") }
    default: kept.append(segment)
    }
  }
  return "/" + kept.joined(separator: "/") + target.dropFirst(path.count)
}

extension String {
  /// At most 60 characters, without control characters: for an error about somebody else's text.
  var shownBriefly: String {
    let safe = unicodeScalars.prefix(60).map { $0.value < 32 || $0.value == 127 ? "?" : String($0) }
    return safe.joined() + (unicodeScalars.count > 60 ? "…" : "")
  }
}
