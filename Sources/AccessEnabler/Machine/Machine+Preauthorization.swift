import RegentPairing
import RegentPairingWire

// Which of these? One call about many resources, answered from memory where that is allowed.

/// What a service answered: good for exactly these resources.
struct Preauthorization: Hashable, Sendable {
  var asked: [String]
  var allowed: [String]

  // Byte by byte, as services take names: to `==` an é is an e with an accent behind it.

  func isAbout(_ resources: [String]) -> Bool {
    asked.elementsEqual(resources) { $0.isSameText(as: $1) }
      || Set(asked.map { Array($0.utf8) }) == Set(resources.map { Array($0.utf8) })
  }

  func allowed(of resources: [String]) -> [String] {
    resources.filter { one in allowed.contains { $0.isSameText(as: one) } }
  }
}

extension Machine {
  mutating func preauthorize(_ resources: [String], usesCache: Bool, _ request: RequestID) {
    guard let kept = validAuthentication else {
      tell(.notAuthenticated)
      tell(.preauthorizedResources([]), request)
      return fail(request, EntitlementError(.notAuthenticated, status: .notAuthenticated))
    }
    guard !resources.isEmpty else { return tellAllowed([], request) }
    if usesCache, let cached = preauthorization, cached.isAbout(resources) {
      return tellAllowed(cached.allowed(of: resources), request)
    }
    pendingCalls[request] = .preauthorizing(resources)
    _ = send(.preauthorize(resources), to: kept.service, for: .pendingCall(request))
  }

  private mutating func tellAllowed(_ allowed: [String], _ request: RequestID) {
    tell(.preauthorizedResources(allowed), request)
    finish(request, .resources(allowed))
  }

  mutating func preauthorizationCame(
    _ answer: ServiceAnswer, _ resources: [String], _ request: RequestID
  ) {
    switch answer {
    case .preauthorized(let ids):
      let allowed = resources.filter { asked in ids.contains { $0.isSameText(as: asked) } }
      if tokens.authentication != nil {
        preauthorization = Preauthorization(asked: resources, allowed: allowed)
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
        case (_, .clockWrong): .clockWrong
        case (_, .captivePortal): .captivePortal
        case (_, .status(401)), (_, .registration), (_, .accessToken): .notTrusted
        default: .service
        }
      }
    tell(.preauthorizationFailed, message: failure.message)
    tell(.preauthorizedResources([]), request)
    fail(request, EntitlementError(kind, status: .preauthorizationFailed, failure))
  }
}
