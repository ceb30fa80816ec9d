import RegentPairing
import RegentPairingWire

// Preauthorization: which of several resources the viewer may watch. The enabler answers from its cache if the app
// allows that. Otherwise it sends one request, or several one after the other if the service limits the number of
// resources.

/// A cached result of a preauthorization, valid for exactly the resources of its request.
struct Preauthorization: Hashable, Sendable {
  var asked: [String]
  var allowed: [String]

  // Compares the resource ids byte by byte, as services do. Swift's `==` treats `é` and `e` with a combining accent as
  // equal.

  func isAbout(_ resources: [String]) -> Bool {
    asked.elementsEqual(resources) { $0.isSameText(as: $1) }
      || Set(asked.map { Array($0.utf8) }) == Set(resources.map { Array($0.utf8) })
  }

  func allowed(of resources: [String]) -> [String] {
    resources.filter { one in allowed.contains { $0.isSameText(as: one) } }
  }
}

/// A preauthorization in progress.
struct Preauthorizing: Hashable, Sendable {
  var resources: [String]
  /// The resources of the preauthorization that no request has named yet.
  var rest: [String]
  /// The resources that the current request of the preauthorization names.
  var asked: [String] = []
  var allowed: [String] = []
  /// The timer of the pause that the service demanded before the next request.
  var timer: TimerID?
}

extension EnablerStateMachine {
  /// Forgets the result and the limit of the last preauthorization, which belong to one sign-in and one configuration.
  mutating func forgetPreauthorization() {
    preauthorization = nil
    preauthorizationLimit = nil
  }

  mutating func preauthorize(_ resources: [String], usesCache: Bool, _ request: RequestID) {
    guard let kept = validAuthentication else {
      tell(.notAuthenticated)
      tell(.preauthorizedResources([]), request)
      return fail(request, notSignedIn(.notAuthenticated))
    }
    guard !resources.isEmpty else { return tellAllowed([], request) }
    if usesCache, let cached = preauthorization, cached.isAbout(resources) {
      return tellAllowed(cached.allowed(of: resources), request)
    }
    askNext(Preauthorizing(resources: resources, rest: resources), at: kept.service, request)
  }

  private mutating func askNext(_ work: Preauthorizing, at service: String, _ request: RequestID) {
    var work = work
    work.timer = nil
    work.asked = Array(work.rest.prefix(preauthorizationLimit ?? work.rest.count))
    work.rest.removeFirst(work.asked.count)
    pendingCalls[request] = .preauthorizing(work)
    _ = send(.preauthorize(work.asked), to: service, for: .pendingCall(request))
  }

  /// Continues after the service has refused a request because of too many resources or too many requests.
  ///
  /// - Returns: whether the preauthorization continues.
  private mutating func goOn(
    with work: Preauthorizing, after failure: ServiceFailure, _ request: RequestID
  ) -> Bool {
    guard let service = tokens.authentication?.service else { return false }
    var work = work
    work.rest = work.asked + work.rest
    // The message has the form "at most 5 resources at once". Without enhanced errors the service sends no code for
    // it.
    let limit = failure.details.flatMap { $0.hasPrefix("at most ") ? Int($0.dropFirst(8).prefix { $0.isNumber }) : nil }
    switch failure.status {
    case 403? where work.asked.count > 1 && (limit != nil || failure.code == .tooManyResources):
      preauthorizationLimit = max(1, min(limit ?? 5, work.asked.count - 1))
      askNext(work, at: service, request)
    case 429? where work.rest.count < work.resources.count:
      work.timer = startTimer(max(failure.retryAfter ?? .seconds(1), .seconds(1)))
      pendingCalls[request] = .preauthorizing(work)
    default: return false
    }
    return true
  }

  mutating func preauthorizationPaused(_ timer: TimerID) -> Bool {
    for (request, pendingCall) in pendingCalls {
      guard case .preauthorizing(let work) = pendingCall, work.timer == timer else { continue }
      if let service = tokens.authentication?.service {
        askNext(work, at: service, request)
      } else {
        pendingCalls[request] = nil
        preauthorizationFailed(ServiceFailure(kind: .status(403), message: ErrorMessage.notAuthenticated), request)
      }
      return true
    }
    return false
  }

  private mutating func tellAllowed(_ allowed: [String], _ request: RequestID) {
    tell(.preauthorizedResources(allowed), request)
    finish(request, .resources(allowed))
  }

  mutating func preauthorizationCame(
    _ answer: ServiceAnswer, _ work: Preauthorizing, _ request: RequestID
  ) {
    if case .failed(let failure) = answer, goOn(with: work, after: failure, request) { return }
    if case .preauthorized(let ids) = answer, !work.rest.isEmpty, let service = tokens.authentication?.service {
      var work = work
      work.allowed += ids
      return askNext(work, at: service, request)
    }
    pendingCalls[request] = nil
    switch answer {
    case .preauthorized(let ids):
      let found = work.allowed + ids
      let allowed = work.resources.filter { asked in found.contains { $0.isSameText(as: asked) } }
      if tokens.authentication != nil {
        preauthorization = Preauthorization(asked: work.resources, allowed: allowed)
      }
      tellAllowed(allowed, request)
    case .failed(let failure):
      if failure.meansNotSignedIn { forgetSignIn(failure) }
      preauthorizationFailed(failure, request)
    default: preauthorizationFailed(ServiceFailure(kind: .unreadable), request)
    }
  }

  private mutating func preauthorizationFailed(_ failure: ServiceFailure, _ request: RequestID) {
    let kind: EntitlementError.Kind =
      if failure.meansAccountDisabled {
        .accountDisabled
      } else if failure.meansNotSignedIn {
        .notAuthenticated
      } else {
        switch (failure.code, failure.kind) {
        // A service without enhanced errors refuses too many resources with a 403 that has no error code.
        case (.tooManyResources?, _), (nil, .status(403)): .tooManyResources
        case (_, .status(400)): .malformedResource
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
