package import RegentHTTPCodec
package import RegentPairing
package import PairingStore
package import RegentPairingWire

/// Why a call gets no document: everything that its answer says, in whatever form the caller reads.
package struct CallError: Error, Sendable {
  package var status: Status
  /// The message; none means the status' own.
  package var message: String?
  /// What else the caller may know.
  package var details: String?
  /// The enhanced code, for requestors that want it.
  package var code: EnhancedCode?
  /// When it may be tried again.
  package var retryAfter: Duration?

  package init(
    _ status: Status, _ message: String? = nil, details: String? = nil, code: EnhancedCode? = nil,
    retryAfter: Duration? = nil
  ) {
    self.status = status
    self.message = message
    self.details = details
    self.code = code
    self.retryAfter = retryAfter
  }

  /// One answer for everything that can be wrong with who calls: which of it, only the log knows.
  package static let notAuthorized = CallError(.unauthorized)

  /// A call that is signed with the secret of a key pair, and names another requestor than the key pair's.
  package static let otherRequestor = CallError(.unauthorized, details: ErrorDetails.otherRequestor)

  /// An access token that is not one of ours, or whose time is over: a new one is to be fetched.
  package static let accessDenied = CallError(.unauthorized, details: "access_denied")

  /// An access token of an application that was revoked: its client has to register again.
  package static let invalidClient = CallError(.forbidden, details: "invalid_client")

  /// A mandatory parameter that is not there.
  package static func missing(_ name: String, code: EnhancedCode? = nil) -> CallError {
    CallError(.badRequest, ErrorMessage.required(name), code: code)
  }

  /// Too many; again after so long.
  package static func tooMany(retryAfter: Duration) -> CallError {
    CallError(.tooManyRequests, retryAfter: retryAfter)
  }

  /// A code to which the viewer said no.
  package static let denied = CallError(.forbidden, details: ErrorDetails.denied)

  /// A code that ran out of time.
  package static let expired = CallError(.gone, details: ErrorDetails.expired)

  /// The box's word that is not taken; the reason is one of few words, which apps compare.
  package static func exchange(_ refusal: ExchangeRefusal) -> CallError {
    CallError(.badRequest, details: refusal.rawValue)
  }

  /// Nothing, or nothing for this caller, has that name.
  package static let unknownCode = CallError(.notFound)
}

extension CallError {
  /// What a store's refusal means to a device or a login page; the phone's pages have words of their own.
  package init(_ error: StoreError) {
    switch error {
    case .refused(let refusal): self.init(refusal)
    case .notInForce(let refusal): self.init(refusal)
    case .pass(let refusal): self.init(refusal)
    case .exchange(let refusal): self = .exchange(refusal)
    case .notFound: self.init(.notFound)
    case .sessionEnded: self.init(.forbidden, details: error.description)
    case .codeTaken, .changedMeanwhile:
      self.init(.serviceUnavailable, details: error.description, retryAfter: .seconds(1))
    case .tooManyClients: self.init(.forbidden, details: error.description)
    case .unkeepable: self.init(.badRequest, details: error.description)
    case .tooManyLiveCodes:
      self.init(.serviceUnavailable, details: error.description, retryAfter: .seconds(30))
    case .diskFull:
      self.init(
        .serviceUnavailable, details: "the service has no room for anything new: try again later",
        retryAfter: Self.outagePause)
    case .unavailable, .unknownOutcome:
      // The reason names files of this machine: it is for the log.
      self.init(.serviceUnavailable, retryAfter: Self.outagePause)
    }
  }

  /// What a call is told to wait while the store is away.
  private static let outagePause: Duration = .seconds(5)

  /// Whether the store is away.
  var isOutage: Bool { status == .serviceUnavailable && retryAfter == Self.outagePause }

  /// What the end of a code means to a device that asks about it.
  package init(_ refusal: PairingRefusal) {
    switch refusal {
    case .denied: self = .denied
    case .expired: self = .expired
    case .withdrawn: self = .unknownCode
    default: self.init(.conflict, details: refusal.description)
    }
  }

  /// What a sign-in that does not count any more means to a device that asks for it.
  package init(_ refusal: AuthenticationRefusal) {
    switch refusal {
    case .expired:
      self.init(
        .gone, ErrorMessage.authenticationExpired, code: .authenticationSessionExpired)
    case .accountDisabled, .accountGone, .keyRevoked, .notIntegrated, .switchedOff, .parentEnded:
      self.init(
        .forbidden, details: refusal.description, code: .authenticationSessionInvalidated)
    }
  }

  /// What a temporary pass that opens nothing more means.
  package init(_ refusal: TemporaryPassRefusal) {
    let words = StoreError.pass(refusal).description
    switch refusal {
    case .durationExceeded:
      self.init(.forbidden, details: words, code: .temporaryAccessDurationExceeded)
    case .resourcesExceeded:
      self.init(.forbidden, details: words, code: .temporaryAccessResourcesExceeded)
    case .identityMissing: self.init(.badRequest, details: words)
    }
  }
}
