import RegentPairing
import RegentPairingWire

// Calls that run at the same time as a sign-in: authorizing, preauthorizing, metadata.

extension EnablerStateMachine {
  // MARK: Authorizing

  mutating func authorize(
    _ resource: String, data: [String: String], mayLogIn: Bool, _ request: RequestID
  ) {
    guard let kept = validAuthentication else {
      guard mayLogIn else {
        tellNotSignedIn(.userNotAuthenticated, request)
        return tellNoToken(
          resource, .userNotAuthenticated, notSignedIn(), request)
      }
      let waiter = Login.Waiter.authorization(request, resource: resource, data: data)
      return logIn(waiter, AuthenticationRequest(data: data))
    }
    guard !resource.isEmpty, resource.utf8.count <= Names.Resource.longest else {
      let error = EntitlementError(.malformedResource, status: .malformedResource)
      tell(.malformedResource, extras: ["resource": String(resource.prefix(256))])
      return tellNoToken(resource, .internalAuthorization, error, request)
    }
    if let refusal = denials.refusal(of: resource, at: now) {
      guard denials.takeProbe(resource, at: now) else { return refuse(resource, refusal, request) }
      pendingCalls[request] = .authorizing(
        PendingCall.Authorizing(
          resource: resource, data: data, mayLogIn: mayLogIn, usesCachedPermit: false, isProbe: true))
      _ = send(.preauthorize([resource]), to: kept.service, for: .pendingCall(request))
      return
    }
    let permit = tokens.permits[resource].flatMap { $0.isValid(at: now) ? $0 : nil }
    pendingCalls[request] = .authorizing(
      PendingCall.Authorizing(
        resource: resource, data: data, mayLogIn: mayLogIn, usesCachedPermit: permit != nil))
    let operation: OutgoingCall.Operation =
      permit == nil
      ? .authorize(resource: resource, data: data) : .mediaToken(resource: resource)
    _ = send(operation, to: kept.service, for: .pendingCall(request))
  }

  /// Denies a resource without an authorization request, after the service has denied it many times.
  ///
  /// Repeats the reason of the last denial.
  private mutating func refuse(
    _ resource: String, _ refusal: (code: EntitlementCode, error: EntitlementError), _ request: RequestID
  ) {
    tell(.deniedRepeatedly, message: refusal.error.message, extras: ["resource": resource])
    tellNoToken(resource, refusal.code, refusal.error, request)
  }

  private mutating func probed(
    _ answer: ServiceAnswer, _ work: PendingCall.Authorizing, _ request: RequestID
  ) {
    switch answer {
    case .preauthorized(let ids) where ids.contains(where: { $0.isSameText(as: work.resource) }):
      denials.forget(work.resource)
      preauthorization = nil
    case .failed(let failure) where failure.meansNotSignedIn: return authorizationFailed(failure, work, request)
    default: break
    }
    if let refusal = denials.refusal(of: work.resource, at: now) {
      pendingCalls[request] = nil
      return refuse(work.resource, refusal, request)
    }
    guard let service = tokens.authentication?.service else {
      return authorizationFailed(Self.signedOutMeanwhile, work, request)
    }
    var work = work
    work.isProbe = false
    pendingCalls[request] = .authorizing(work)
    _ = send(.authorize(resource: work.resource, data: work.data), to: service, for: .pendingCall(request))
  }

  mutating func pendingCallAnswered(_ answer: ServiceAnswer, for request: RequestID) {
    guard let pendingCall = pendingCalls[request] else { return }
    switch pendingCall {
    case .authorizing(let work) where work.isProbe: probed(answer, work, request)
    case .authorizing(let work): authorizationCame(answer, work, request)
    case .preauthorizing(let work): preauthorizationCame(answer, work, request)
    case .metadata(let key, let arguments):
      pendingCalls[request] = nil
      metadataCame(answer, key, arguments, request)
    case .checking:
      pendingCalls[request] = nil
      checked(answer, request)
    }
  }

  private mutating func authorizationCame(
    _ answer: ServiceAnswer, _ work: PendingCall.Authorizing, _ request: RequestID
  ) {
    let service = tokens.authentication?.service
    switch answer {
    case .permit(var permit):
      guard let service else { return authorizationFailed(Self.signedOutMeanwhile, work, request) }
      permit.source = source(of: permit)
      store(.permit(work.resource, permit))
      denials.forget(work.resource)
      switch permit.source {
      case .mvpd: break
      case .temppass: tell(.temporaryAuthorization, extras: ["resource": work.resource])
      case .degradation: tell(.degradedAuthorization, extras: ["resource": work.resource])
      }
      _ = send(.mediaToken(resource: work.resource), to: service, for: .pendingCall(request))
    case .mediaToken(let access):
      pendingCalls[request] = nil
      tell(.setToken(access), request)
      tell(
        .sendTrackingData(
          ["true", access.provider, guid, work.usesCachedPermit ? "true" : "false", "", ""]
            + settings.tracked, .authorization))
      finish(request, .access(access))
    case .failed(let failure):
      let isForgotten = [403, 404, 410].contains(failure.status) && !failure.meansNotSignedIn
      if work.usesCachedPermit, isForgotten, let service {
        // The service no longer has the permit (the stored authorization) that this device cached. Request a new
        // authorization, once.
        store(.permit(work.resource, nil))
        var work = work
        work.usesCachedPermit = false
        pendingCalls[request] = .authorizing(work)
        _ = send(
          .authorize(resource: work.resource, data: work.data), to: service, for: .pendingCall(request))
      } else {
        authorizationFailed(failure, work, request)
      }
    default: authorizationFailed(ServiceFailure(kind: .unreadable), work, request)
    }
  }

  /// What granted a permit (a stored authorization): the provider, a temporary pass, or a degradation.
  ///
  /// If the service does not report the source, it follows from how this device was signed in.
  private func source(of permit: StoredPermit) -> DecisionSource {
    guard permit.source == .mvpd else { return permit.source }
    return switch tokens.authentication?.signIn.source {
    case .temporary: .temppass
    case .degraded: .degradation
    case .regular, .platform, nil: .mvpd
    }
  }

  private static let signedOutMeanwhile = ServiceFailure(
    kind: .status(403), message: ErrorMessage.notAuthenticated)

  private mutating func authorizationFailed(
    _ failure: ServiceFailure, _ work: PendingCall.Authorizing, _ request: RequestID
  ) {
    pendingCalls[request] = nil
    if failure.meansNotSignedIn {
      forgetSignIn(failure)
      guard work.mayLogIn, !responders.isEmpty, !phase.queuesCalls else {
        var error = notSignedIn(.noSession)
        error.message = failure.message
        tellNotSignedIn(.userNotAuthenticated, request)
        return tellNoToken(
          work.resource, .userNotAuthenticated, error, request)
      }
      let waiter = Login.Waiter.authorization(request, resource: work.resource, data: work.data)
      return logIn(waiter, AuthenticationRequest(data: work.data))
    }
    let isTemporary = tokens.authentication?.signIn.source == .temporary
    let (code, error) = Self.authorizationProblem(failure, isTemporary: isTemporary)
    if error.area == .authorization, error.kind != .malformedResource {
      denials.note(work.resource, code, error, at: now)
    }
    var extras = ["resource": work.resource]
    if let details = failure.details ?? failure.code?.rawValue { extras["details"] = details }
    if let status = error.status { tell(status, message: error.message, extras: extras) }
    tellNoToken(work.resource, code, error, request)
  }

  /// Converts a failed authorization to the codes of the callbacks.
  static func authorizationProblem(
    _ failure: ServiceFailure, isTemporary: Bool
  ) -> (EntitlementCode, EntitlementError) {
    func problem(
      _ code: EntitlementCode, _ kind: EntitlementError.Kind, _ status: StatusID
    ) -> (EntitlementCode, EntitlementError) {
      // The description is shown to the viewer, so a refusal contains only the provider's own message.
      let text = code == .userNotAuthorized ? failure.details ?? "" : failure.message
      var error = EntitlementError(kind, status: status, message: text)
      error.fault = failure.fault
      return (code, error)
    }
    switch failure.code {
    case .authorizationDeniedByParentalControls?:
      return problem(.userNotAuthorized, .parentalControls, .denied)
    case .authorizationDeniedByDegradationRule?:
      return problem(.userNotAuthorized, .notAuthorized, .degradedDenial)
    case .temporaryAccessDurationExceeded?, .temporaryAccessResourcesExceeded?:
      return problem(.userNotAuthorized, .temporaryPassExpired, .temporaryPassExpired)
    case .malformedAuthorizationRequest?, .missingResource?:
      return problem(.internalAuthorization, .malformedResource, .malformedResource)
    case .some(let code) where code.action == .retry:
      return problem(.genericAuthorization, .service, .providerProblem)
    default: break
    }
    switch failure.kind {
    case .status(403):
      return isTemporary
        ? problem(.userNotAuthorized, .temporaryPassExpired, .temporaryPassExpired)
        : problem(.userNotAuthorized, .notAuthorized, .denied)
    case .status(400), .status(412):
      return problem(.internalAuthorization, .malformedResource, .malformedResource)
    case .status(429): return problem(.genericAuthorization, .throttled, .denied)
    case .status(401): return problem(.genericAuthorization, .notTrusted, .notTrusted)
    case .registration: return problem(.genericAuthorization, .notTrusted, .registrationFailed)
    case .accessToken: return problem(.genericAuthorization, .notTrusted, .accessTokenFailed)
    case .unreachable: return problem(.genericAuthorization, .unreachable, .authorizationFailed)
    case .unsafeConnection:
      return problem(.genericAuthorization, .unsafeConnection, .unsafeConnection)
    case .clockWrong: return problem(.genericAuthorization, .clockWrong, .clockWrong)
    case .captivePortal:
      return problem(.genericAuthorization, .captivePortal, .authorizationFailed)
    case .unreadable, .status:
      return problem(.genericAuthorization, .service, .authorizationFailed)
    }
  }

  mutating func tellNoToken(
    _ resource: String, _ code: EntitlementCode, _ error: EntitlementError, _ request: RequestID
  ) {
    // A refusal delivers the provider's message. For other failures the description says what failed.
    let text =
      switch code {
      case .userNotAuthorized: error.message
      case .userNotAuthenticated: ""
      default: error.description
      }
    tell(.tokenRequestFailed(resource: resource, code, description: text), request)
    let provider = tokens.authentication?.signIn.provider.id ?? tokens.selected?.id ?? ""
    tell(
      .sendTrackingData(
        ["false", provider, guid, "false", code.rawValue, error.message] + settings.tracked,
        .authorization), request)
    fail(request, error)
  }

  private var guid: String { tokens.authentication?.signIn.guid ?? "" }

  /// Deletes the stored sign-in, because the service no longer has it.
  mutating func forgetSignIn(_ failure: ServiceFailure) {
    isAccountDisabled = failure.meansAccountDisabled
    guard tokens.authentication != nil else { return }
    let wasTemporary = tokens.authentication?.signIn.source == .temporary
    store(.authentication(nil))
    tell(
      wasTemporary ? .temporaryPassExpired : .noSession,
      message: isAccountDisabled ? EntitlementError.Kind.accountDisabled.words : "")
  }
}
