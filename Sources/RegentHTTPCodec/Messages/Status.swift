/// A response status code, 100 to 999.
public struct Status: RawRepresentable, Sendable, Hashable {
  public let rawValue: UInt16

  /// Makes a status.
  ///
  /// A number outside of 100 to 999 becomes 500, so that the status line always has three digits.
  public init(rawValue: UInt16) {
    self.rawValue = (100...999).contains(rawValue) ? rawValue : 500
  }

  public init(_ code: UInt16) { self.init(rawValue: code) }

  /// Whether a response with this status never has a body (1xx, 204, 304).
  public var forbidsBody: Bool { rawValue < 200 || rawValue == 204 || rawValue == 304 }

  public var isSuccess: Bool { (200..<300).contains(rawValue) }
}

extension Status {
  public static var `continue`: Status { Status(100) }
  public static var ok: Status { Status(200) }
  public static var created: Status { Status(201) }
  public static var accepted: Status { Status(202) }
  public static var noContent: Status { Status(204) }
  public static var movedPermanently: Status { Status(301) }
  public static var found: Status { Status(302) }
  public static var seeOther: Status { Status(303) }
  public static var notModified: Status { Status(304) }
  public static var temporaryRedirect: Status { Status(307) }
  public static var permanentRedirect: Status { Status(308) }
  public static var badRequest: Status { Status(400) }
  public static var unauthorized: Status { Status(401) }
  public static var forbidden: Status { Status(403) }
  public static var notFound: Status { Status(404) }
  public static var methodNotAllowed: Status { Status(405) }
  public static var notAcceptable: Status { Status(406) }
  public static var requestTimeout: Status { Status(408) }
  public static var conflict: Status { Status(409) }
  public static var gone: Status { Status(410) }
  public static var lengthRequired: Status { Status(411) }
  public static var preconditionFailed: Status { Status(412) }
  public static var contentTooLarge: Status { Status(413) }
  public static var uriTooLong: Status { Status(414) }
  public static var unsupportedMediaType: Status { Status(415) }
  public static var expectationFailed: Status { Status(417) }
  public static var misdirectedRequest: Status { Status(421) }
  public static var unprocessableContent: Status { Status(422) }
  public static var tooManyRequests: Status { Status(429) }
  public static var headerFieldsTooLarge: Status { Status(431) }
  public static var internalServerError: Status { Status(500) }
  public static var notImplemented: Status { Status(501) }
  public static var badGateway: Status { Status(502) }
  public static var serviceUnavailable: Status { Status(503) }
  public static var gatewayTimeout: Status { Status(504) }
  public static var versionNotSupported: Status { Status(505) }
}

extension Status: CustomStringConvertible {
  public var description: String { "\(rawValue) \(reason)" }

  /// The reason phrase of RFC 9110 for this status, or `Status` for a number that has none.
  public var reason: String {
    switch rawValue {
    case 100: "Continue"
    case 200: "OK"
    case 201: "Created"
    case 202: "Accepted"
    case 204: "No Content"
    case 301: "Moved Permanently"
    case 302: "Found"
    case 303: "See Other"
    case 304: "Not Modified"
    case 307: "Temporary Redirect"
    case 308: "Permanent Redirect"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 406: "Not Acceptable"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 410: "Gone"
    case 411: "Length Required"
    case 412: "Precondition Failed"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 415: "Unsupported Media Type"
    case 417: "Expectation Failed"
    case 421: "Misdirected Request"
    case 422: "Unprocessable Content"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 502: "Bad Gateway"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    case 505: "HTTP Version Not Supported"
    default: "Status"
    }
  }
}
