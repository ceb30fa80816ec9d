import RegentPairing
import RegentPairingWire

// Ends a sign-in, with success or without, and reports the result.

extension EnablerStateMachine {
  mutating func succeed(_ login: Login, _ granted: GrantedAuthentication, from service: String) {
    let signIn = keep(granted, from: service)
    isAccountDisabled = false
    selection = .usual
    switch signIn.source {
    case .regular: break
    case .temporary: tell(.temporaryPass)
    case .degraded: tell(.degradedAuthentication)
    case .platform: break
    }
    phase = .ready
    succeed(login, signIn, isCached: false)
  }

  mutating func succeed(_ login: Login, _ signIn: SignIn, isCached: Bool) {
    var isTold = false
    for case .authentication(let request) in login.waiters {
      tellSignedIn(signIn, request, isCached: isCached)
      isTold = true
    }
    if !isTold {
      tell(.setAuthenticationStatus(.authenticated, .userAuthenticated))
      track(signIn, nil, isCached: isCached)
    }
    for case .authorization(let request, let resource, let data) in login.waiters {
      authorize(resource, data: data, mayLogIn: false, request)
    }
  }

  static let denied = EntitlementError(
    .denied, status: .notAuthenticated, message: "denied on the phone")

  /// Ends a sign-in because of a failed request.
  mutating func loginFailed(_ login: Login, _ failure: ServiceFailure, as status: StatusID) {
    var error: EntitlementError
    var status = status
    switch failure.kind {
    case .unreachable: error = EntitlementError(.unreachable)
    case .unsafeConnection:
      error = EntitlementError(.unsafeConnection)
      status = .unsafeConnection
    case .clockWrong:
      error = EntitlementError(.clockWrong)
      status = .clockWrong
    case .captivePortal: error = EntitlementError(.captivePortal)
    case .registration:
      error = EntitlementError(.notTrusted)
      status = .registrationFailed
    case .accessToken:
      error = EntitlementError(.notTrusted)
      status = .accessTokenFailed
    case .status(401):
      error = EntitlementError(.notTrusted)
      status = .notTrusted
    case .status(429): error = EntitlementError(.throttled)
    case .status where failure.meansAccountDisabled: error = EntitlementError(.accountDisabled)
    case .unreadable, .status:
      error = EntitlementError(status == .temporaryPassExpired ? .temporaryPassExpired : .service)
    }
    error.status = status
    error.message = failure.details ?? failure.message
    error.retryAfter = failure.retryAfter
    error.fault = failure.fault
    end(login, .genericAuthentication, error)
  }

  /// Ends a sign-in without success.
  ///
  /// Each waiting call is finished once, with the error.
  mutating func end(_ login: Login, _ code: EntitlementCode, _ error: EntitlementError) {
    if let status = error.status {
      tell(status, message: error.message, extras: Self.details(of: error))
    }
    phase = .ready
    if let pending = tokens.pending { store(.pendingOver(pending.offer.code)) }
    var isTold = false
    for case .authentication(let request) in login.waiters {
      tellNotSignedIn(code, error, request)
      isTold = true
    }
    if !isTold { tellNotSignedIn(code, nil) }
    for case .authorization(let request, let resource, _) in login.waiters {
      tellNoToken(resource, .userNotAuthenticated, error, request)
    }
  }

  static func details(of error: EntitlementError) -> [String: String] {
    switch error.kind {
    case .denied: ["details": ErrorDetails.denied]
    case .codeExpired: ["details": ErrorDetails.expired]
    default: [:]
    }
  }

  // MARK: Reporting to the app

  mutating func tellSignedIn(_ signIn: SignIn, _ request: RequestID, isCached: Bool) {
    tell(.setAuthenticationStatus(.authenticated, .userAuthenticated), request)
    track(signIn, request, isCached: isCached)
    finish(request, .signIn(signIn))
  }

  mutating func tellNotSignedIn(
    _ code: EntitlementCode, _ error: EntitlementError, _ request: RequestID
  ) {
    tellNotSignedIn(code, request)
    fail(request, error)
  }

  /// Reports that this device is not signed in, to a call that continues with a sign-in and finishes later.
  mutating func tellNotSignedIn(_ code: EntitlementCode, _ request: RequestID?) {
    tell(.setAuthenticationStatus(.notAuthenticated, code), request)
    let provider = tokens.selected?.id ?? ""
    tell(
      .sendTrackingData(["false", provider, "", "false"] + settings.tracked, .authentication),
      request)
  }

  private mutating func track(_ signIn: SignIn, _ request: RequestID?, isCached: Bool) {
    tell(
      .sendTrackingData(
        ["true", signIn.provider.id, signIn.guid, isCached ? "true" : "false"] + settings.tracked,
        .authentication), request)
  }

  /// Stores a changed login in the current phase.
  mutating func setLogin(_ login: Login) {
    switch phase {
    case .choosing: phase = .choosing(login)
    case .entering(_, let choice, let call): phase = .entering(login, choice, call)
    case .registering(_, let choice, let step): phase = .registering(login, choice, step)
    case .waiting(_, let choice, let watch): phase = .waiting(login, choice, watch)
    case .browsing(_, let choice, let offer): phase = .browsing(login, choice, offer)
    case .fetching(_, let choice, let step): phase = .fetching(login, choice, step)
    case .attaching(_, let attaching): phase = .attaching(login, attaching)
    case .presenting(_, let presented): phase = .presenting(login, presented)
    case .sharing(_, let code): phase = .sharing(login, code)
    case .unconfigured, .configuring, .synchronizing, .joining, .ready, .signingOut, .leaving: break
    }
  }
}
