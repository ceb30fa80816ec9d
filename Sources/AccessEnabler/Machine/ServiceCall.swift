import RegentHTTPClient
import RegentPairing
import RegentPairingWire

/// A call of the app, from its beginning to its one end.
struct RequestID: Hashable, Sendable {
  let number: Int
}

/// A call to a service, from its sending to its answer.
struct CallID: Hashable, Sendable {
  let number: Int
}

/// A pause.
struct TimerID: Hashable, Sendable {
  let number: Int
}

/// A call to a service in the words of the protocol; whoever makes it knows URLs and headers.
struct OutgoingCall: Hashable, Sendable {
  enum Operation: Hashable, Sendable {
    case configuration
    case authentication
    /// A new code; the one it takes the place of is not to be gone on with.
    case createCode(provider: String?, data: [String: String] = [:], inPlaceOf: String? = nil)
    case readCode(String)
    /// The same, held until something after this sequence happens.
    case awaitCode(String, after: Int)
    case deleteCode(String)
    case freePreview(provider: String, domain: String?, data: [String: String])
    case authorize(resource: String, data: [String: String])
    case mediaToken(resource: String)
    case preauthorize([String])
    case userMetadata
    case logout
    /// What the box's platform account is to answer.
    case profileRequest(provider: String)
    /// The box's answer for an authentication.
    case exchange(provider: String, assertion: String)
    /// What the daemon itself asks, beside the machine.
    case box(BoxCall)
    /// A question to the box's daemon; no service hears of it.
    case platform(PlatformQuestion)
  }

  let id: CallID
  let requestor: String
  let service: String
  var operation: Operation
  /// How long it may take in all.
  var deadline: Duration
  /// How long the answer may be held, in whole seconds, where a proxy on the way waits shorter than is usual.
  var hold: Int?
  /// For how long it is made again while the service is away.
  var patience: Duration = .zero
}

extension OutgoingCall.Operation {
  /// Whether it is made again while the service is away.
  ///
  /// Made twice it must do no more than made once. The wait for a code has a patience of its own, and so has the box's
  /// daemon.
  var mayBeRepeated: Bool {
    switch self {
    case .configuration, .authentication, .createCode, .freePreview, .authorize, .mediaToken, .preauthorize,
      .userMetadata, .logout, .profileRequest:
      true
    case .readCode, .awaitCode, .deleteCode, .exchange, .box, .platform: false
    }
  }
}

/// What a service answered.
enum ServiceAnswer: Hashable, Sendable {
  case configuration(ServiceConfiguration)
  case authentication(GrantedAuthentication)
  case code(CodeRecord)
  case permit(StoredPermit)
  case mediaToken(MediaAccess)
  case preauthorized([String])
  case metadata([String: Metadata])
  /// Opaque to everybody but the service.
  case profileRequest(String)
  case platform(PlatformAnswer)
  /// The answer to a call of the daemon's own, as it came.
  case box(BoxAnswer)
  /// There is nothing to say.
  case done
  /// Signed out; with this ticket the browser is, too.
  case signedOut(ticket: String)
  case failed(ServiceFailure)
}

/// A service's provider list.
struct ServiceConfiguration: Hashable, Sendable {
  var providers: [MVPD]
  var domains: [String]
  var exposesDeviceID = false
}

/// An authentication as a service tells it.
struct GrantedAuthentication: Hashable, Sendable {
  var provider: String
  var userID: String
  var expires: Instant
  var source: SignIn.Source
}

/// A registration code as a service tells it.
struct CodeRecord: Hashable, Sendable {
  var code: String
  var url: String
  var urlComplete: String
  var expires: Instant
  var status: PairingStatus
  var sequence: Int
  var match: Int?
  /// Whether the service held the answer as it was asked to.
  var wasHeld: Bool
}

/// Why there is no good answer.
struct ServiceFailure: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    /// Nobody answered, or not in time, or not to the end.
    case unreachable
    /// A certificate is wrong, or the TLS handshake failed.
    case unsafeConnection
    /// This device's clock is wrong, so that a good certificate looks expired or not yet valid.
    case clockWrong
    /// Somebody answered in the service's place: a guest network's sign-in page.
    case captivePortal
    /// An answer that is not of this protocol: far too much, half a document.
    case unreadable
    /// The software statement is not accepted.
    case registration
    /// No access token.
    case accessToken
    /// An error of the protocol, with its status.
    case status(Int)
  }

  var kind: Kind
  var code: EnhancedCode?
  /// What the service said, or what is wrong with what it said.
  var message = ""
  /// What to do about it, where the box itself lacks something.
  var hint: String?
  /// The provider's own words, `denied`, `expired`.
  var details: String?
  /// How long the service wants to be left alone.
  var retryAfter: Duration?
  /// What is wrong with the certificate, the handshake or this device's clock.
  var fault: ClientError.TLSFault?
  /// How a service that could not be reached seems to have gone.
  var absence: Absence?

  enum Absence: Hashable, Sendable {
    /// In the middle of a call.
    case lost
    /// Its machine answers, and says that nobody is there.
    case refused
  }

  var status: Int? {
    if case .status(let status) = kind { status } else { nil }
  }

  /// Whether the service is well and wants to be asked less.
  var asksForPatience: Bool { status == 429 || (status == 503 && retryAfter != nil) }

  /// Whether a service that is started anew looks like this, or the proxy before it.
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

  /// For how long a call is made again that failed so.
  ///
  /// A network that is missing, or a call that got no answer in its time, is told at once. So is an address where
  /// nobody is, but for what it takes to start a service: it may be a wrong one.
  func patience(of patience: Duration) -> Duration {
    switch (kind, absence) {
    case (.status(502), _), (.status(503), _), (.status(504), _), (_, .lost): patience
    case (_, .refused): patience / 4
    default: .zero
    }
  }

  /// Whether asking the same again later may go well.
  var isPassing: Bool {
    switch kind {
    case .unreachable, .unreadable, .unsafeConnection, .clockWrong, .captivePortal, .accessToken:
      true
    case .registration: false
    case .status(let status): status >= 500 || status == 429 || status == 408
    }
  }

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
  /// Whether it is about the end of a temporary pass.
  var isTemporaryPass: Bool {
    self == .temporaryAccessDurationExceeded || self == .temporaryAccessResourcesExceeded
  }
}
