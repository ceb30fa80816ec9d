/// The name of a header field: a token, compared without regard to ASCII case.
public struct HeaderName: Sendable {
  /// The spelling it was made with; this is what is written to the wire.
  public let text: String

  /// A name from text, or nil when the text is not a token (so that a name can never break out of its line).
  public init?(_ text: String) {
    guard !text.isEmpty, text.utf8.allSatisfy({ $0.isToken }) else { return nil }
    self.text = text
  }

  /// A name the program itself spells; anything but a token is a programming error.
  public init(literal text: StaticString) {
    let spelling = "\(text)"
    precondition(!spelling.isEmpty && spelling.utf8.allSatisfy { $0.isToken })
    self.text = spelling
  }

  /// A name that is known to be a token.
  package init(known text: String) { self.text = text }
}

extension HeaderName: Hashable, CustomStringConvertible {
  /// Whether both are the same name, whatever their capitals.
  public static func == (left: HeaderName, right: HeaderName) -> Bool {
    let (one, other) = (left.text.utf8, right.text.utf8)
    return one.count == other.count && zip(one, other).allSatisfy { $0.lowered == $1.lowered }
  }

  /// Feeds the name in small letters.
  public func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte.lowered) }
  }

  /// The spelling it was made with.
  public var description: String { text }
}

extension HeaderName {
  /// Accept.
  public static var accept: HeaderName { HeaderName(known: "Accept") }
  /// Accept-Language.
  public static var acceptLanguage: HeaderName { HeaderName(known: "Accept-Language") }
  /// Allow.
  public static var allow: HeaderName { HeaderName(known: "Allow") }
  /// Authorization.
  public static var authorization: HeaderName { HeaderName(known: "Authorization") }
  /// Cache-Control.
  public static var cacheControl: HeaderName { HeaderName(known: "Cache-Control") }
  /// Connection.
  public static var connection: HeaderName { HeaderName(known: "Connection") }
  /// Content-Length.
  public static var contentLength: HeaderName { HeaderName(known: "Content-Length") }
  /// Content-Type.
  public static var contentType: HeaderName { HeaderName(known: "Content-Type") }
  /// Cookie.
  public static var cookie: HeaderName { HeaderName(known: "Cookie") }
  /// Date.
  public static var date: HeaderName { HeaderName(known: "Date") }
  /// ETag.
  public static var etag: HeaderName { HeaderName(known: "ETag") }
  /// Expect.
  public static var expect: HeaderName { HeaderName(known: "Expect") }
  /// Forwarded.
  public static var forwarded: HeaderName { HeaderName(known: "Forwarded") }
  /// Host.
  public static var host: HeaderName { HeaderName(known: "Host") }
  /// If-None-Match.
  public static var ifNoneMatch: HeaderName { HeaderName(known: "If-None-Match") }
  /// Location.
  public static var location: HeaderName { HeaderName(known: "Location") }
  /// Origin.
  public static var origin: HeaderName { HeaderName(known: "Origin") }
  /// Prefer.
  public static var prefer: HeaderName { HeaderName(known: "Prefer") }
  /// Preference-Applied.
  public static var preferenceApplied: HeaderName { HeaderName(known: "Preference-Applied") }
  /// Referer.
  public static var referer: HeaderName { HeaderName(known: "Referer") }
  /// Retry-After.
  public static var retryAfter: HeaderName { HeaderName(known: "Retry-After") }
  /// Server.
  public static var server: HeaderName { HeaderName(known: "Server") }
  /// Set-Cookie.
  public static var setCookie: HeaderName { HeaderName(known: "Set-Cookie") }
  /// Transfer-Encoding.
  public static var transferEncoding: HeaderName { HeaderName(known: "Transfer-Encoding") }
  /// User-Agent.
  public static var userAgent: HeaderName { HeaderName(known: "User-Agent") }
  /// WWW-Authenticate.
  public static var wwwAuthenticate: HeaderName { HeaderName(known: "WWW-Authenticate") }
  /// X-Forwarded-For.
  public static var xForwardedFor: HeaderName { HeaderName(known: "X-Forwarded-For") }
  /// X-Forwarded-Host.
  public static var xForwardedHost: HeaderName { HeaderName(known: "X-Forwarded-Host") }
  /// X-Forwarded-Proto.
  public static var xForwardedProto: HeaderName { HeaderName(known: "X-Forwarded-Proto") }
}
