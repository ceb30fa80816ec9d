import RegentPairing
import RegentPairingWire

// What runs beside the sign-in: authorizing, preauthorizing, metadata.

extension Machine {
  // MARK: Authorizing

  mutating func authorize(
    _ resource: String, data: [String: String], mayLogIn: Bool, _ request: RequestID
  ) {
    guard let kept = validAuthentication else {
      guard mayLogIn else {
        return tellNoToken(
          resource, .userNotAuthenticated, EntitlementError(.notAuthenticated), request)
      }
      let waiter = Login.Waiter.authorization(request, resource: resource, data: data)
      return logIn(waiter, AuthenticationRequest(data: data))
    }
    guard !resource.isEmpty, resource.utf8.count <= Names.Resource.longest else {
      let error = EntitlementError(.malformedResource, status: .malformedResource)
      tell(.malformedResource, extras: ["resource": String(resource.prefix(256))])
      return tellNoToken(resource, .internalAuthorization, error, request)
    }
    guard !denials.isExhausted(resource, at: now) else {
      let error = EntitlementError(.notAuthorized, status: .deniedRepeatedly)
      tell(.deniedRepeatedly, extras: ["resource": resource])
      return tellNoToken(resource, .userNotAuthorized, error, request)
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

  mutating func errandAnswerCame(_ answer: ServiceAnswer, for request: RequestID) {
    guard let pendingCall = pendingCalls[request] else { return }
    switch pendingCall {
    case .authorizing(let work): authorizationCame(answer, work, request)
    case .preauthorizing(let resources):
      pendingCalls[request] = nil
      preauthorizationCame(answer, resources, request)
    case .metadata(let key, let arguments):
      pendingCalls[request] = nil
      metadataCame(answer, key, arguments, request)
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
        // The permit of the cache does not count any more; the service decides anew, once.
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

  /// What a service does not say follows from how this device was signed in.
  private func source(of permit: StoredPermit) -> DecisionSource {
    guard permit.source == .mvpd else { return permit.source }
    return switch tokens.authentication?.signIn.source {
    case .temporary: .temppass
    case .degraded: .degradation
    case .regular, nil: .mvpd
    }
  }

  private static let signedOutMeanwhile = ServiceFailure(
    kind: .status(403), message: ErrorMessage.notAuthenticated)

  private mutating func authorizationFailed(
    _ failure: ServiceFailure, _ work: PendingCall.Authorizing, _ request: RequestID
  ) {
    pendingCalls[request] = nil
    if failure.meansNotSignedIn {
      forgetSignIn()
      guard work.mayLogIn, !responders.isEmpty, !phase.queuesCalls else {
        return tellNoToken(
          work.resource, .userNotAuthenticated,
          EntitlementError(.notAuthenticated, status: .noSession, message: failure.message),
          request)
      }
      let waiter = Login.Waiter.authorization(request, resource: work.resource, data: work.data)
      return logIn(waiter, AuthenticationRequest(data: work.data))
    }
    let isTemporary = tokens.authentication?.signIn.source == .temporary
    let (code, error) = Self.authorizationProblem(failure, isTemporary: isTemporary)
    if error.area == .authorization, error.kind != .malformedResource {
      denials.note(work.resource, at: now)
    }
    var extras = ["resource": work.resource]
    if let details = failure.details ?? failure.code?.rawValue { extras["details"] = details }
    if let status = error.status { tell(status, message: error.message, extras: extras) }
    tellNoToken(work.resource, code, error, request)
  }

  /// What a refusal amounts to, in the codes of the callbacks.
  static func authorizationProblem(
    _ failure: ServiceFailure, isTemporary: Bool
  ) -> (EntitlementCode, EntitlementError) {
    func problem(
      _ code: EntitlementCode, _ kind: EntitlementError.Kind, _ status: StatusID
    ) -> (EntitlementCode, EntitlementError) {
      // Only what the provider itself said is for the viewer's eyes.
      let text = code == .userNotAuthorized ? failure.details ?? "" : failure.message
      return (code, EntitlementError(kind, status: status, message: text))
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
    case .unreadable, .status:
      return problem(.genericAuthorization, .service, .authorizationFailed)
    }
  }

  mutating func tellNoToken(
    _ resource: String, _ code: EntitlementCode, _ error: EntitlementError, _ request: RequestID
  ) {
    let text = code == .userNotAuthorized ? error.message : ""
    tell(.tokenRequestFailed(resource: resource, code, description: text), request)
    let provider = tokens.authentication?.signIn.provider.id ?? tokens.selected?.id ?? ""
    tell(
      .sendTrackingData(
        ["false", provider, guid, "false", code.rawValue, error.message] + settings.tracked,
        .authorization))
    fail(request, error)
  }

  private var guid: String { tokens.authentication?.signIn.guid ?? "" }

  /// The service does not know this device's sign-in any more.
  private mutating func forgetSignIn() {
    guard tokens.authentication != nil else { return }
    let wasTemporary = tokens.authentication?.signIn.source == .temporary
    store(.authentication(nil))
    tell(wasTemporary ? .temporaryPassExpired : .noSession)
  }

  // MARK: Preauthorizing

  mutating func preauthorize(_ resources: [String], usesCache: Bool, _ request: RequestID) {
    guard let kept = validAuthentication else {
      tell(.notAuthenticated)
      tell(.preauthorizedResources([]), request)
      return fail(request, EntitlementError(.notAuthenticated, status: .notAuthenticated))
    }
    let cached = tokens.preauthorization
    guard !resources.isEmpty else { return tellAllowed([], request) }
    if usesCache, let cached, Set(cached.asked) == Set(resources) {
      return tellAllowed(resources.filter(cached.allowed.contains), request)
    }
    pendingCalls[request] = .preauthorizing(resources)
    _ = send(.preauthorize(resources), to: kept.service, for: .pendingCall(request))
  }

  private mutating func tellAllowed(_ allowed: [String], _ request: RequestID) {
    tell(.preauthorizedResources(allowed), request)
    finish(request, .resources(allowed))
  }

  private mutating func preauthorizationCame(
    _ answer: ServiceAnswer, _ resources: [String], _ request: RequestID
  ) {
    switch answer {
    case .preauthorized(let ids):
      let allowed = resources.filter { asked in ids.contains { $0.isSameText(as: asked) } }
      if tokens.authentication != nil {
        store(.preauthorization(StoredPreauthorization(asked: resources, allowed: allowed)))
      }
      tellAllowed(allowed, request)
    case .failed(let failure):
      if failure.meansNotSignedIn { forgetSignIn() }
      preauthorizationFailed(failure, request)
    default: preauthorizationFailed(ServiceFailure(kind: .unreadable), request)
    }
  }

  private mutating func preauthorizationFailed(_ failure: ServiceFailure, _ request: RequestID) {
    let kind: EntitlementError.Kind =
      if failure.meansNotSignedIn {
        .notAuthenticated
      } else {
        switch (failure.code, failure.kind) {
        case (.tooManyResources?, _), (_, .status(400)), (_, .status(403)): .tooManyResources
        case (_, .status(429)): .throttled
        case (_, .unreachable): .unreachable
        case (_, .unsafeConnection): .unsafeConnection
        case (_, .status(401)), (_, .registration), (_, .accessToken): .notTrusted
        default: .service
        }
      }
    tell(.preauthorizationFailed, message: failure.message)
    tell(.preauthorizedResources([]), request)
    fail(
      request, EntitlementError(kind, status: .preauthorizationFailed, message: failure.message))
  }

  // MARK: Metadata and the selected provider

  mutating func tellSelectedProvider(_ request: RequestID) {
    let provider = validAuthentication?.signIn.provider ?? tokens.selected
    tell(.selectedProvider(provider), request)
    finish(request, .selected(provider))
  }

  mutating func getMetadata(
    _ key: MetadataRequest?, _ arguments: [String: String], _ request: RequestID
  ) {
    func milliseconds(_ instant: Instant?) -> Metadata {
      Metadata(value: instant.map { .text(String($0.milliseconds)) })
    }
    switch key {
    case nil:
      tell(.setMetadataStatus(Metadata(value: nil), key: "", arguments: arguments), request)
      fail(request, EntitlementError(.outOfOrder, message: "nothing of this name can be asked"))
    case .authenticationExpiry?:
      tellMetadata(milliseconds(validAuthentication?.signIn.expires), key, arguments, request)
    case .authorizationExpiry(let resource)?:
      let permit = tokens.permits[resource].flatMap { $0.isValid(at: now) ? $0 : nil }
      tellMetadata(milliseconds(permit?.expires), key, arguments, request)
    case .deviceID?:
      let isAllowed = settings.exposesDeviceID || responders.contains(where: \.exposesDeviceID)
      let id = isAllowed ? MetadataValue.text(settings.deviceID) : nil
      tellMetadata(Metadata(value: id), key, arguments, request)
    case .user(let name)?:
      guard let kept = validAuthentication else {
        tell(.setMetadataStatus(Metadata(value: nil), key: name, arguments: arguments), request)
        return fail(request, EntitlementError(.notAuthenticated))
      }
      pendingCalls[request] = .metadata(.user(name), arguments: arguments)
      _ = send(.userMetadata, to: kept.service, for: .pendingCall(request))
    }
  }

  private mutating func tellMetadata(
    _ metadata: Metadata, _ key: MetadataRequest?, _ arguments: [String: String],
    _ request: RequestID
  ) {
    tell(.setMetadataStatus(metadata, key: key?.name ?? "", arguments: arguments), request)
    finish(request, .metadata(metadata))
  }

  private mutating func metadataCame(
    _ answer: ServiceAnswer, _ key: MetadataRequest, _ arguments: [String: String],
    _ request: RequestID
  ) {
    switch answer {
    case .metadata(let all):
      tellMetadata(all[key.name] ?? Metadata(value: nil), key, arguments, request)
    // A viewer of whom nothing is known.
    case .failed(let failure) where failure.status == 404:
      tellMetadata(Metadata(value: nil), key, arguments, request)
    case .failed(let failure):
      if failure.meansNotSignedIn { forgetSignIn() }
      metadataFailed(failure, key, arguments, request)
    default: metadataFailed(ServiceFailure(kind: .unreadable), key, arguments, request)
    }
  }

  /// An empty reply, as documented; the async face says why.
  private mutating func metadataFailed(
    _ failure: ServiceFailure, _ key: MetadataRequest, _ arguments: [String: String],
    _ request: RequestID
  ) {
    let empty = Metadata(value: nil)
    tell(.setMetadataStatus(empty, key: key.name, arguments: arguments), request)
    let kind: EntitlementError.Kind =
      switch failure.kind {
      case _ where failure.meansNotSignedIn: .notAuthenticated
      case .unreachable: .unreachable
      case .unsafeConnection: .unsafeConnection
      case .status(429): .throttled
      case .status(401), .registration, .accessToken: .notTrusted
      case .unreadable, .status: .service
      }
    fail(request, EntitlementError(kind, message: failure.message))
  }
}

/// Remembers denials, so that an app in a loop does not ask for ever.
struct DenialLog: Hashable, Sendable {
  /// So many denials of one resource within the span, and the service is not asked any more.
  static let most = 5
  static let span = Duration.seconds(60)
  /// More resources than anybody is denied in a minute.
  private static let mostResources = 256

  private var denied: [String: [Instant]] = [:]

  mutating func note(_ resource: String, at now: Instant) {
    if denied[resource] == nil, denied.count >= Self.mostResources { denied = [:] }
    denied[resource] = recent(resource, at: now) + [now]
  }

  mutating func forget(_ resource: String) { denied[resource] = nil }

  func isExhausted(_ resource: String, at now: Instant) -> Bool {
    recent(resource, at: now).count >= Self.most
  }

  private func recent(_ resource: String, at now: Instant) -> [Instant] {
    (denied[resource] ?? []).filter { $0 <= now && now.since($0) < Self.span }
  }
}
