import RegentPairing

/// An error response: in the generic form, or in the enhanced form for requestors that have turned it on.
public struct ErrorDocument: WireDocument, Hashable {
  public static let root = XMLRoot("error")

  /// The additional members of the enhanced form.
  public struct Enhancement: Hashable, Sendable {
    public var code: EnhancedCode
    /// The URL of a page that explains the error.
    public var helpURL: String
    /// The id with which the operator finds the request in the service's log.
    public var trace: String

    public init(code: EnhancedCode, helpURL: String, trace: String) {
      self.code = code
      self.helpURL = helpURL
      self.trace = trace
    }
  }

  /// The HTTP status of the response, repeated in the body.
  public var status: Int
  public var message: String
  /// Additional information about the error: a text from the provider, `denied` or `expired`.
  public var details: String?
  /// The enhanced form's members, or `nil` for the generic form.
  public var enhancement: Enhancement?

  /// Creates an error response.
  ///
  /// If `message` is nil, it has the standard message of the status.
  public init(
    status: Int, message: String? = nil, details: String? = nil, enhancement: Enhancement? = nil
  ) {
    self.status = status
    self.message = message ?? Self.message(for: status)
    self.details = details
    self.enhancement = enhancement
  }

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

  /// The protocol's standard message for an HTTP status.
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

/// Error messages whose text the protocol prescribes.
public enum ErrorMessage {
  /// The message when the sign-in has expired: from `checkauthn` and all requests that need a sign-in.
  public static let authenticationExpired = "Authentication token expired"
  /// The message when the provider does not allow the viewer the resource, from `authorize`.
  public static let notAuthorized = "User not authorized"
  /// The message of `authorize` and `tokens/media` when the device is not signed in.
  public static let notAuthenticatedForAuthorize = "User not Authenticated"
  /// The message of `tokens/authz`, `preauthorize` and `usermetadata` when the device is not signed in.
  public static let notAuthenticated = "User not authenticated"

  /// Whether a message is one of the generic ones, which add nothing to the status.
  public static func isPlain(_ message: String) -> Bool {
    let phrases = (400..<504).map(ErrorDocument.message(for:))
    return (phrases + [notAuthorized, notAuthenticated, notAuthenticatedForAuthorize]).contains {
      $0.utf8.elementsEqual(message.utf8)
    }
  }

  public static func required(_ name: String) -> String { "Required '\(name)' is not present" }
}

/// The member `details` of an error: for a code that ended, and for a signed request that was refused.
public enum ErrorDetails {
  /// The viewer denied the code on the phone.
  public static let denied = "denied"
  /// The registration code of the request has expired.
  public static let expired = "expired"
  /// An operator has disabled the account with which the device is signed in.
  ///
  /// Only the device's own signed requests get this text. The sign-in continues when the account is enabled again.
  public static let accountDisabled = AuthenticationRefusal.accountDisabled.description
  /// The `requestor_id` of a signed request is not the requestor of its key pair.
  public static let otherRequestor = "the key pair belongs to another requestor"
}
