package import RegentHTTPCodec
package import RegentPairing
package import PairingStore
package import RegentPairingWire

/// An error response to a request, independent of the format in which the client reads it.
package struct CallError: Error, Sendable {
  package var status: Status
  /// The message of the error; nil for the usual message of the status.
  package var message: String?
  /// Further details about the error for the client.
  package var details: String?
  package var code: EnhancedCode?
  /// After how long the client may try again.
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

  /// The error for every failure of authentication.
  ///
  /// The client does not learn which check failed; the log says it.
  package static let notAuthorized = CallError(.unauthorized)

  /// The error for a request that is signed with a key pair of another requestor than the one it names.
  package static let otherRequestor = CallError(.unauthorized, details: ErrorDetails.otherRequestor)

  /// The error for an access token that is not one of this service's, or has expired.
  ///
  /// The client must fetch a new one.
  package static let accessDenied = CallError(.unauthorized, details: "access_denied")

  /// The error for an access token whose application was revoked.
  ///
  /// The client must register again.
  package static let invalidClient = CallError(.forbidden, details: "invalid_client")

  /// The error for a request without a mandatory parameter.
  package static func missing(_ name: String, code: EnhancedCode? = nil) -> CallError {
    CallError(.badRequest, ErrorMessage.required(name), code: code)
  }

  /// The error for a request that exceeds a rate limit.
  package static func tooMany(retryAfter: Duration) -> CallError {
    CallError(.tooManyRequests, retryAfter: retryAfter)
  }

  /// The error for a registration code that the viewer denied.
  package static let denied = CallError(.forbidden, details: ErrorDetails.denied)

  /// The error for a registration code that expired.
  package static let expired = CallError(.gone, details: ErrorDetails.expired)

  /// The error for a box's assertion that was not accepted.
  ///
  /// The details are one of a few fixed words, so that apps can compare them.
  package static func exchange(_ refusal: ExchangeRefusal) -> CallError {
    CallError(.badRequest, details: refusal.rawValue)
  }

  /// The 404 for a code that is unknown, withdrawn, of another requestor or, when a device polls, still pending.
  ///
  /// The client does not learn which of these is the case.
  package static let unknownCode = CallError(.notFound)
}

extension CallError {
  /// The error for a device or a login page after a failure of the store.
  ///
  /// The phone's pages have texts of their own.
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
        .serviceUnavailable, details: "the service has no disk space for new data: try again later",
        retryAfter: Self.outagePause)
    case .unavailable, .unknownOutcome:
      // Only the log contains the reason, because it names files of this machine.
      self.init(.serviceUnavailable, retryAfter: Self.outagePause)
    }
  }

  /// The `Retry-After` during an outage of the store.
  private static let outagePause: Duration = .seconds(5)

  /// Whether the error is an outage of the store.
  var isOutage: Bool { status == .serviceUnavailable && retryAfter == Self.outagePause }

  /// The error for a device that asks about a code that has ended.
  package init(_ refusal: PairingRefusal) {
    switch refusal {
    case .denied: self = .denied
    case .expired: self = .expired
    case .withdrawn: self = .unknownCode
    default: self.init(.conflict, details: refusal.description)
    }
  }

  /// The error for a device whose sign-in is no longer valid.
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

  /// The error for a temporary pass that is used up.
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
