import RegentHTTPCodec

/// The server of a call: a scheme, a host and a port, or a Unix socket.
public struct Origin: Hashable, Sendable {
  /// The protocol of the connection.
  public enum Scheme: Hashable, Sendable {
    /// The client speaks HTTP over TCP, unencrypted.
    case http
    /// The client speaks HTTP over TLS.
    case https
    /// HTTP over a Unix socket of this machine.
    case unix
  }

  public let scheme: Scheme
  /// The host in lower case, an IPv6 address without brackets; or the path of a Unix socket.
  public let host: String
  /// The port of the server; 0 for a Unix socket.
  public let port: UInt16

  init(scheme: Scheme, host: String, port: UInt16) {
    self.scheme = scheme
    self.host = host
    self.port = port
  }

  /// The value of the Host header.
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
  /// The origin as the beginning of a URL.
  ///
  /// It contains no path, query or password.
  public var description: String {
    switch scheme {
    case .http: "http://\(authority)"
    case .https: "https://\(authority)"
    case .unix: "unix:\(host)"
    }
  }
}

/// A URL that the client can call, validated so that no part of it can change the bytes of the request around it.
public struct ClientURL: Hashable, Sendable {
  public let origin: Origin
  /// The path and the query of the URL as they are sent.
  public let target: String

  /// Parses `http://HOST[:PORT]/PATH?QUERY` or the same with https, and drops a fragment.
  ///
  /// Refuses user names and passwords, white space and everything except visible ASCII.
  ///
  /// - Throws: `ClientError` of kind `.invalidRequest`.
  public init(_ text: String) throws(ClientError) {
    let url: AbsoluteURL
    do throws(URLError) {
      url = try AbsoluteURL(parsing: text)
    } catch {
      throw ClientError.invalid("\(error)")
    }
    let scheme: Origin.Scheme
    switch url.scheme {
    case "http": scheme = .http
    case "https": scheme = .https
    default: throw ClientError.invalid("only http and https URLs can be called")
    }
    let host = url.host.description
    origin = Origin(
      scheme: scheme, host: host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host,
      port: url.port.map { UInt16($0) } ?? scheme.defaultPort)
    target = url.requestTarget
  }

  /// Makes the URL of a request over a Unix socket.
  ///
  /// - Parameters:
  ///   - path: the path of the socket, or "@" and an abstract name.
  ///   - target: the path and the query of the request.
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

  /// The URL with the path "/" on the same server.
  var root: ClientURL { ClientURL(origin: origin, target: "/") }

  /// Resolves a reference, as in a Location header, relative to this URL.
  ///
  /// - Parameter reference: an absolute URL, a path or a query.
  /// - Returns: the absolute URL.
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

  /// Checks the path and query of a request by the rules for those of a complete URL.
  private static func checkedTarget(_ text: Substring) throws(ClientError) -> String {
    // The text is converted to `String` first: concatenating a `Substring` makes the runtime look up protocol
    // conformances once in each process.
    let full = text.hasPrefix("/") || text.hasPrefix("?") ? String(text) : "/" + String(text)
    return try ClientURL("http://localhost" + full).target
  }
}

extension ClientURL: CustomStringConvertible {
  /// The URL without its query, which may contain a secret.
  public var description: String {
    origin.description + target.prefix { $0 != "?" }
  }
}

/// Removes the segments "." and ".." from the path of a URL (RFC 3986 section 5.2.4).
///
/// The query is not changed.
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
  /// The text with at most 60 characters and without control characters, for errors that quote a text from outside.
  var shownBriefly: String {
    let safe = unicodeScalars.prefix(60).map { $0.value < 32 || $0.value == 127 ? "?" : String($0) }
    return safe.joined() + (unicodeScalars.count > 60 ? "…" : "")
  }
}
