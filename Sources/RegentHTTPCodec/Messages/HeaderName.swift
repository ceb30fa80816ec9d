/// The name of a header field: a token that is compared without regard to ASCII case.
public struct HeaderName: Sendable {
  /// The name of the field as it was given, which is also how it is sent.
  public let text: String

  /// Makes a field name; nil if the text is not a token, so that no name can contain a line break.
  public init?(_ text: String) {
    guard !text.isEmpty, text.utf8.allSatisfy({ $0.isToken }) else { return nil }
    self.text = text
  }

  /// Makes a field name from a constant of the program.
  ///
  /// Traps unless the text is a token.
  public init(literal text: StaticString) {
    let spelling = "\(text)"
    precondition(!spelling.isEmpty && spelling.utf8.allSatisfy { $0.isToken })
    self.text = spelling
  }

  /// Makes a field name without checking it.
  ///
  /// The caller knows that the text is a token.
  package init(known text: String) { self.text = text }
}

extension HeaderName: Hashable, CustomStringConvertible {
  /// Whether both field names are equal without regard to ASCII case.
  public static func == (left: HeaderName, right: HeaderName) -> Bool {
    let (one, other) = (left.text.utf8, right.text.utf8)
    return one.count == other.count && zip(one, other).allSatisfy { $0.lowered == $1.lowered }
  }

  public func hash(into hasher: inout Hasher) {
    for byte in text.utf8 { hasher.combine(byte.lowered) }
  }

  public var description: String { text }
}

extension HeaderName {
  public static var accept: HeaderName { HeaderName(known: "Accept") }
  public static var acceptLanguage: HeaderName { HeaderName(known: "Accept-Language") }
  public static var allow: HeaderName { HeaderName(known: "Allow") }
  public static var authorization: HeaderName { HeaderName(known: "Authorization") }
  public static var cacheControl: HeaderName { HeaderName(known: "Cache-Control") }
  public static var connection: HeaderName { HeaderName(known: "Connection") }
  public static var contentLength: HeaderName { HeaderName(known: "Content-Length") }
  public static var contentType: HeaderName { HeaderName(known: "Content-Type") }
  public static var cookie: HeaderName { HeaderName(known: "Cookie") }
  public static var date: HeaderName { HeaderName(known: "Date") }
  public static var etag: HeaderName { HeaderName(known: "ETag") }
  public static var expect: HeaderName { HeaderName(known: "Expect") }
  public static var forwarded: HeaderName { HeaderName(known: "Forwarded") }
  public static var host: HeaderName { HeaderName(known: "Host") }
  public static var ifNoneMatch: HeaderName { HeaderName(known: "If-None-Match") }
  public static var location: HeaderName { HeaderName(known: "Location") }
  public static var origin: HeaderName { HeaderName(known: "Origin") }
  public static var prefer: HeaderName { HeaderName(known: "Prefer") }
  public static var preferenceApplied: HeaderName { HeaderName(known: "Preference-Applied") }
  public static var referer: HeaderName { HeaderName(known: "Referer") }
  public static var retryAfter: HeaderName { HeaderName(known: "Retry-After") }
  public static var server: HeaderName { HeaderName(known: "Server") }
  public static var setCookie: HeaderName { HeaderName(known: "Set-Cookie") }
  public static var transferEncoding: HeaderName { HeaderName(known: "Transfer-Encoding") }
  public static var userAgent: HeaderName { HeaderName(known: "User-Agent") }
  public static var wwwAuthenticate: HeaderName { HeaderName(known: "WWW-Authenticate") }
  public static var xForwardedFor: HeaderName { HeaderName(known: "X-Forwarded-For") }
  public static var xForwardedHost: HeaderName { HeaderName(known: "X-Forwarded-Host") }
  public static var xForwardedProto: HeaderName { HeaderName(known: "X-Forwarded-Proto") }
}
