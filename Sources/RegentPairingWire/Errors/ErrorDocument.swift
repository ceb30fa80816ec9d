/// An error as the caller sees it: the generic body, or the enhanced one for requestors that asked for it.
public struct ErrorDocument: WireDocument, Hashable {
  public static let root = XMLRoot("error")

  /// What enhanced errors say besides.
  public struct Enhancement: Hashable, Sendable {
    /// Which error it is.
    public var code: EnhancedCode
    /// Where it is explained.
    public var helpURL: String
    /// The id under which the service's log has it.
    public var trace: String

    /// What enhanced errors say besides.
    public init(code: EnhancedCode, helpURL: String, trace: String) {
      self.code = code
      self.helpURL = helpURL
      self.trace = trace
    }
  }

  /// The HTTP status, repeated.
  public var status: Int
  /// What went wrong, as documented for the endpoint.
  public var message: String
  /// What else is known: a provider's own words, `denied`, `expired`.
  public var details: String?
  /// The enhanced form; none for the generic one.
  public var enhancement: Enhancement?

  /// An error; without a message the status' own.
  public init(
    status: Int, message: String? = nil, details: String? = nil, enhancement: Enhancement? = nil
  ) {
    self.status = status
    self.message = message ?? Self.message(for: status)
    self.details = details
    self.enhancement = enhancement
  }

  /// Writes `{status, message, details}`, or `{action, status, code, message, details?, helpUrl, trace}`.
  public func write(to sink: inout some DocumentSink) {
    guard let enhancement else {
      sink.number("status", Int64(status))
      sink.text("message", message)
      sink.text("details", orNull: details)
      return
    }
    sink.text("action", enhancement.code.action.rawValue)
    sink.number("status", Int64(status))
    sink.text("code", enhancement.code.rawValue)
    sink.text("message", message)
    sink.text("details", ifKnown: details)
    sink.text("helpUrl", enhancement.helpURL)
    sink.text("trace", enhancement.trace)
  }

  /// The generic message of a status, as the protocol words it.
  public static func message(for status: Int) -> String {
    switch status {
    case 400: "Bad Request"
    case 401: "Not Authorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 406: "Not Acceptable"
    case 410: "Gone"
    case 412: "Precondition Failed"
    case 413: "Content Too Large"
    case 415: "Unsupported Media Type"
    case 429: "Too Many Requests"
    case 503: "Service Unavailable"
    default: status < 500 ? "Bad Request" : "Internal Server Error"
    }
  }
}

/// The messages that the protocol words itself.
public enum ErrorMessage {
  /// `checkauthn` and whatever needs a sign-in that has ended.
  public static let authenticationExpired = "Authentication token expired"
  /// `authorize` says no.
  public static let notAuthorized = "User not authorized"
  /// `authorize` and `tokens/media` without a sign-in.
  public static let notAuthenticatedForAuthorize = "User not Authenticated"
  /// `tokens/authz`, `preauthorize` and `usermetadata` without a sign-in.
  public static let notAuthenticated = "User not authenticated"

  /// Whether a message says nothing that its status did not say.
  public static func isPlain(_ message: String) -> Bool {
    let phrases = (400..<504).map(ErrorDocument.message(for:))
    return (phrases + [notAuthorized, notAuthenticated, notAuthenticatedForAuthorize]).contains {
      $0.utf8.elementsEqual(message.utf8)
    }
  }

  /// A mandatory parameter is missing.
  public static func required(_ name: String) -> String { "Required '\(name)' is not present" }
}

/// The `details` of a code that ended, and of a signed call that was refused.
public enum ErrorDetails {
  /// The viewer said no.
  public static let denied = "denied"
  /// Its time ran out.
  public static let expired = "expired"
  /// A signed call names another requestor than the one that its key pair belongs to.
  public static let otherRequestor = "the key pair belongs to another requestor"
}
