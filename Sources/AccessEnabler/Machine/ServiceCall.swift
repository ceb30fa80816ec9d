import RegentHTTPClient
import RegentPairing
import RegentPairingWire

/// Identifies a call of the app until it is finished.
struct RequestID: Hashable, Sendable {
  let number: Int
}

/// Identifies a request to a service until it is answered.
struct CallID: Hashable, Sendable {
  let number: Int
}

struct TimerID: Hashable, Sendable {
  let number: Int
}

/// A request to a service in terms of the protocol.
///
/// ``ServiceCaller`` converts it to URL and headers.
struct OutgoingCall: Hashable, Sendable {
  enum Operation: Hashable, Sendable {
    case configuration
    case authentication
    /// Requests a new code, which replaces the code `inPlaceOf`.
    case createCode(provider: String?, data: [String: String] = [:], inPlaceOf: String? = nil)
    case readCode(String)
    /// A long poll: the service holds the response until the code changes after this sequence.
    case awaitCode(String, after: Int)
    case deleteCode(String)
    case freePreview(provider: String, domain: String?, data: [String: String])
    case authorize(resource: String, data: [String: String])
    case mediaToken(resource: String)
    case preauthorize([String])
    case userMetadata
    case logout
    /// Requests the signed challenge that the box's daemon answers with an assertion (a profile request).
    case profileRequest(provider: String)
    /// Exchanges the box's assertion for an authentication.
    case exchange(provider: String, assertion: String)
    /// A request that the box's daemon sends to its service. The state machine sends none of these.
    case box(BoxCall)
    /// A question to the box's daemon about its shared account.
    ///
    /// No request to a service is sent.
    case platform(PlatformQuestion)
  }

  let id: CallID
  let requestor: String
  let service: String
  var operation: Operation
  /// The time limit for the whole request to the service.
  var deadline: Duration
  /// How long the service may hold the response, in seconds; nil for the usual time, otherwise a shorter time because a
  /// proxy closes connections earlier.
  var hold: Int?
  /// For how long the request is repeated while the service is unreachable.
  var patience: Duration = .zero
}

extension OutgoingCall.Operation {
  /// Whether the request is repeated while the service is unreachable.
  ///
  /// Only a request that has the same effect when it is sent twice may be. Requests that wait for a code and requests
  /// to the box's daemon are repeated elsewhere.
  var mayBeRepeated: Bool {
    switch self {
    case .configuration, .authentication, .createCode, .freePreview, .authorize, .mediaToken, .preauthorize,
      .userMetadata, .logout, .profileRequest:
      true
    case .readCode, .awaitCode, .deleteCode, .exchange, .box, .platform: false
    }
  }
}

enum ServiceAnswer: Hashable, Sendable {
  case configuration(ServiceConfiguration)
  case authentication(GrantedAuthentication)
  case code(CodeRecord)
  case permit(StoredPermit)
  case mediaToken(MediaAccess)
  case preauthorized([String])
  case metadata([String: Metadata])
  /// The profile request: a signed text with which the service begins a sign-in through the account that the box's apps
  /// share. Only the service can read it.
  case profileRequest(String)
  case platform(PlatformAnswer)
  /// The unchanged response to a request that the box's daemon sent.
  case box(BoxAnswer)
  /// The service reports success, without content.
  case done
  /// Signed out.
  ///
  /// The ticket lets the browser sign out without confirmation.
  case signedOut(ticket: String)
  case failed(ServiceFailure)
}

struct ServiceConfiguration: Hashable, Sendable {
  var providers: [MVPD]
  var domains: [String]
  var exposesDeviceID = false
}

/// An authentication in a service's response.
struct GrantedAuthentication: Hashable, Sendable {
  var provider: String
  var userID: String
  var expires: Instant
  var source: SignIn.Source
}

/// The state of a registration code in a service's response.
struct CodeRecord: Hashable, Sendable {
  var code: String
  var url: String
  var urlComplete: String
  var expires: Instant
  var status: PairingStatus
  var sequence: Int
  var match: Int?
  /// Whether the service held the response until the code changed or the time of the long poll was up.
  var wasHeld: Bool
}

/// Why a request to a service failed.
struct ServiceFailure: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    /// The service sent no response, or an incomplete one, or not in time.
    case unreachable
    /// A certificate is invalid, or the TLS handshake failed.
    case unsafeConnection
    /// This device's clock is wrong, so that a valid certificate seems expired or not yet valid.
    case clockWrong
    /// A captive portal, the sign-in page of a guest network, answered in place of the service.
    case captivePortal
    /// The response is not of this protocol, for example too large or incomplete.
    case unreadable
    /// The service does not accept the app's software statement.
    case registration
    /// The service gave the app no access token.
    case accessToken
    /// The service answered with an HTTP error status of the protocol.
    case status(Int)
  }

  var kind: Kind
  var code: EnhancedCode?
  /// The service's error message, or a description of what is wrong with its response.
  var message = ""
  /// What to do about the failure, if the box itself lacks something, such as the TLS library.
  var hint: String?
  /// The provider's message, or `denied` or `expired`.
  var details: String?
  /// How long the service asks the client to wait.
  var retryAfter: Duration?
  var fault: ClientError.TLSFault?
  /// How the connection to an unreachable service failed.
  var absence: Absence?

  enum Absence: Hashable, Sendable {
    /// The connection broke during the request.
    case lost
    /// The service's machine stopped answering, about seven seconds before the failure.
    case silent
    /// The server refused the connection: its machine runs, but the service does not.
    case refused
  }

  var status: Int? {
    if case .status(let status) = kind { status } else { nil }
  }

  /// Whether the service works but asks for fewer requests.
  var asksForPatience: Bool { status == 429 || (status == 503 && retryAfter != nil) }

  /// Whether a restart of the service, or of the proxy in front of it, may have caused this failure.
  func mayBeARestart(within silence: Duration) -> Bool {
    switch kind {
    case .unreachable: true
    case .status(404), .status(502), .status(504): true
    case .status(503): retryAfter.map { $0 <= silence } ?? true
    case .status, .unsafeConnection, .clockWrong, .captivePortal, .unreadable, .registration,
      .accessToken:
      false
    }
  }

  /// For how long to repeat a request that failed in this way.
  ///
  /// Without a network, or after a timeout, the failure is reported at once. A refused connection gets a quarter of the
  /// time, enough for a service to start: the address may also be wrong.
  func patience(of patience: Duration) -> Duration {
    switch (kind, absence) {
    case (.status(502), _), (.status(503), _), (.status(504), _), (_, .lost), (_, .silent): patience
    case (_, .refused): patience / 4
    default: .zero
    }
  }

  /// Whether the same request may succeed later.
  var isPassing: Bool {
    switch kind {
    case .unreachable, .unreadable, .unsafeConnection, .clockWrong, .captivePortal, .accessToken:
      true
    case .registration: false
    case .status(let status): status >= 500 || status == 429 || status == 408
    }
  }

  /// Whether the service refuses this device's sign-in because an operator has disabled the account.
  var meansAccountDisabled: Bool { details?.isSameText(as: ErrorDetails.accountDisabled) ?? false }

  /// Whether the service says that this device is not signed in.
  var meansNotSignedIn: Bool {
    if let code, code.action == .authentication, !code.isTemporaryPass { return true }
    switch status {
    case 412: return code == nil
    case 403:
      return code == nil
        && (message.isSameText(as: ErrorMessage.notAuthenticatedForAuthorize)
          || message.isSameText(as: ErrorMessage.notAuthenticated)
          || message.isSameText(as: ErrorMessage.authenticationExpired))
    default: return false
    }
  }
}

extension EnhancedCode {
  var isTemporaryPass: Bool {
    self == .temporaryAccessDurationExceeded || self == .temporaryAccessResourcesExceeded
  }
}
