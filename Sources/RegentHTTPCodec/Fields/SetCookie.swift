/// Why a `Set-Cookie` header was refused.
public enum SetCookieError: Error, Hashable, Sendable, CustomStringConvertible {
  case name
  case value
  case path
  case domain
  case prefixNeedsSecure
  case hostPrefixNeedsRootPathAndNoDomain
  case crossSiteNeedsSecure

  /// A sentence about the error that is safe to show, because it contains no part of the cookie.
  public var description: String {
    switch self {
    case .name: "the cookie's name is not a token: use letters, digits, '-' and '_'"
    case .value:
      "the cookie's value has characters that cookies cannot carry: encode it as base64url"
    case .path: "the cookie's path must begin with '/' and have no ';' or control characters"
    case .domain: "the cookie's domain is not a host name"
    case .prefixNeedsSecure: "a __Host- or __Secure- cookie must be Secure"
    case .hostPrefixNeedsRootPathAndNoDomain: "a __Host- cookie has Path=/ and no Domain"
    case .crossSiteNeedsSecure: "a SameSite=None cookie must be Secure"
    }
  }
}

/// A cookie that the server sets (RFC 6265 §4.1, with `SameSite` and the name prefixes of RFC 6265bis).
///
/// The defaults are the safe ones: `Secure`, `HttpOnly`, `SameSite=Lax`, only for this host, and until the browser
/// closes.
public struct SetCookie: Sendable, Equatable {
  /// Whether the browser sends the cookie with requests that other sites start.
  public enum SameSite: String, Sendable {
    case strict = "Strict"
    case lax = "Lax"
    case none = "None"
  }

  /// The name of the cookie, including a prefix such as `__Host-`.
  public let name: String
  public let value: String
  /// The paths for which the browser sends the cookie.
  public let path: String
  /// The domain whose subdomains also get the cookie; nil limits the cookie to this host.
  public let domain: String?
  /// The lifetime of the cookie in seconds; 0 removes the cookie, nil keeps it until the browser closes.
  public let maximumAge: Int?
  /// Whether the browser sends the cookie only over https.
  public let isSecure: Bool
  /// Whether scripts cannot read the cookie.
  public let isHTTPOnly: Bool
  public let sameSite: SameSite

  /// Makes a cookie.
  ///
  /// Checks every part, so that no value can add a header or an attribute.
  public init(
    _ name: String, _ value: String, path: String = "/", domain: String? = nil,
    maximumAge: Int? = nil, isSecure: Bool = true, isHTTPOnly: Bool = true,
    sameSite: SameSite = .lax
  ) throws(SetCookieError) {
    guard !name.isEmpty, name.utf8.allSatisfy(\.isToken) else { throw .name }
    guard value.utf8.allSatisfy(Self.isValueCharacter) else { throw .value }
    guard path.utf8.first == Characters.slash, path.utf8.allSatisfy(Self.isAttributeCharacter)
    else { throw .path }
    if let domain {
      guard case .name(_)? = HostName(parsing: domain) else { throw .domain }
    }
    // Browsers compare name prefixes without regard to case, so the rules apply to every spelling.
    let folded = Characters.lowercased(name)
    let isHostBound = folded.hasPrefix("__host-")
    if isHostBound || folded.hasPrefix("__secure-"), !isSecure { throw .prefixNeedsSecure }
    if isHostBound, path != "/" || domain != nil { throw .hostPrefixNeedsRootPathAndNoDomain }
    if sameSite == .none, !isSecure { throw .crossSiteNeedsSecure }
    self.name = name
    self.value = value
    self.path = path
    self.domain = domain
    self.maximumAge = maximumAge
    self.isSecure = isSecure
    self.isHTTPOnly = isHTTPOnly
    self.sameSite = sameSite
  }

  /// Makes a cookie named `__Host-NAME`, for https and this host only.
  ///
  /// No other host and no http page can set a cookie with that name.
  public static func hostBound(
    _ name: String, _ value: String, maximumAge: Int? = nil, sameSite: SameSite = .lax
  ) throws(SetCookieError) -> SetCookie {
    try SetCookie("__Host-\(name)", value, maximumAge: maximumAge, sameSite: sameSite)
  }

  /// The same cookie with `Max-Age=0`, which makes the browser remove it.
  public func removal() throws(SetCookieError) -> SetCookie {
    try SetCookie(
      name, "", path: path, domain: domain, maximumAge: 0, isSecure: isSecure,
      isHTTPOnly: isHTTPOnly, sameSite: sameSite)
  }

  public var headerValue: String {
    var text = "\(name)=\(value); Path=\(path)"
    if let domain { text += "; Domain=\(domain)" }
    if let maximumAge { text += "; Max-Age=\(max(0, maximumAge))" }
    if isSecure { text += "; Secure" }
    if isHTTPOnly { text += "; HttpOnly" }
    return text + "; SameSite=\(sameSite.rawValue)"
  }

  /// Whether the byte is a `cookie-octet` (RFC 6265 §4.1.1), which a cookie's value may contain.
  static func isValueCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x21, 0x23...0x2B, 0x2D...0x3A, 0x3C...0x5B, 0x5D...0x7E: true
    default: false
    }
  }

  private static func isAttributeCharacter(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte < 0x7F && byte != Characters.semicolon
  }
}
