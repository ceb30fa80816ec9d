import RegentPairing

// The part of `setRequestor` and `checkAuthentication` that uses the box's shared account (the platform account).
// `PlatformRules` makes the decisions.

/// The state of exchanging the box's sign-in for a sign-in of this app after the configuration, without a picker.
///
/// The app's calls wait for the end of the exchange.
struct Joining: Hashable, Sendable {
  var requests: [RequestID]
  var call: CallID
  /// The running exchange of the box's sign-in; nil while the daemon is asked for this app's permission and the box's
  /// sign-in.
  var exchange: PlatformExchange?
  /// The first request of the exchange, if it was sent before the enabler knew that it needs the exchange.
  var ahead: EarlyRequest?
}

/// The status request to the daemon, sent early, while the services are asked for their providers.
struct EarlyQuestion: Hashable, Sendable {
  let call: CallID
  let asked: Instant
  var answer: ServiceAnswer?
  var request: EarlyRequest?

  /// Whether the daemon was asked at most a second ago.
  ///
  /// The enabler waits for slow services before it uses the daemon's answer. Meanwhile the viewer may change the app's
  /// permission.
  func isFresh(at now: Instant) -> Bool { (0...1_000).contains(now.milliseconds - asked.milliseconds) }
}

/// The first request of an exchange that is likely to follow, sent while the service is asked whether the app is signed
/// in.
///
/// If the app is not signed in, the exchange ends sooner this way. If the app is signed in, the service made one
/// signature in vain; it stores nothing.
struct EarlyRequest: Hashable, Sendable {
  let exchange: PlatformExchange
  let call: CallID
  var answer: ServiceAnswer?
}

extension EnablerStateMachine {
  /// Whether the box's daemon takes part in this call.
  ///
  /// Without a daemon and without a sign-in from it, the box's shared account is ignored.
  var usesPlatform: Bool { platformIsThere || validAuthentication?.signIn.source == .platform }

  /// The settings of a provider for this requestor, from the last configuration.
  func terms(of provider: String) -> PlatformRules.Terms {
    guard !responders.isEmpty else { return PlatformRules.Terms() }
    return PlatformRules.Terms(providers.first { $0.id.isSameText(as: provider) })
  }

  var ownTerms: PlatformRules.Terms {
    validAuthentication.map { terms(of: $0.signIn.provider.id) } ?? PlatformRules.Terms()
  }

  mutating func ask(_ question: PlatformQuestion, for purpose: Purpose) -> CallID {
    send(.platform(question), to: "", for: purpose)
  }

  mutating func tell(_ trouble: PlatformTrouble, _ request: RequestID? = nil) {
    // The original API documents where the context of a failure is: for VSA503 in the message, for AAPL_ERROR in the
    // details.
    let isInMessage = trouble.id == .platformRequestFailed
    let message = isInMessage && !trouble.context.isEmpty ? trouble.context : trouble.id.sentence
    let extras = isInMessage || trouble.context.isEmpty ? [:] : ["details": trouble.context]
    tell(.status(EntitlementStatus(trouble.id, message: message, extras: extras)), request)
  }

  // MARK: setRequestor

  /// Sends the status request to the daemon at the same time as the requests to the services.
  ///
  /// The daemon's response is used only after theirs.
  mutating func askEarly() {
    guard usesPlatform else { return }
    early = EarlyQuestion(call: ask(.status, for: .joining), asked: now)
  }

  mutating func dropEarly() {
    drop(early?.call)
    drop(early?.request?.call)
    early = nil
  }

  /// Sends the first request of the exchange before all responses are there, if the responses so far show that an
  /// exchange will follow.
  mutating func requestEarly() {
    guard case .synchronizing = phase, var asked = early, asked.request == nil, asked.isFresh(at: now),
      let answer = asked.answer, validAuthentication == nil,
      case .exchange(let provider) = PlatformRules.start(standing(answer), own: nil, terms: { terms(of: $0) }),
      let exchange = newExchange(provider)
    else { return }
    let call = send(.profileRequest(provider: provider), to: exchange.service, for: .joining)
    asked.request = EarlyRequest(exchange: exchange, call: call)
    early = asked
  }

  mutating func join(_ requests: [RequestID]) {
    guard usesPlatform, let asked = early, asked.isFresh(at: now) else {
      dropEarly()
      guard usesPlatform else { return configured(requests) }
      phase = .joining(Joining(requests: requests, call: ask(.status, for: .joining)))
      return
    }
    early = nil
    let joining = Joining(requests: requests, call: asked.call, ahead: asked.request)
    phase = .joining(joining)
    if let answer = asked.answer { standingCame(answer, joining) }
  }

  mutating func joiningAnswered(_ answer: ServiceAnswer, _ id: CallID) {
    switch id {
    case early?.call:
      early?.answer = answer
      return requestEarly()
    case early?.request?.call:
      early?.request?.answer = answer
      return
    default: break
    }
    guard case .joining(let joining) = phase, joining.call == id else { return }
    guard let exchange = joining.exchange else { return standingCame(answer, joining) }
    switch exchange.course(answer) {
    case .next(let step, let operation): go(on: exchange, to: step, operation, joining)
    case .granted(let granted):
      keep(granted, from: exchange.service)
      configured(joining.requests)
    case .failed(.trouble(let trouble)): endJoining(joining, trouble)
    case .failed(.silent(let why)): endJoining(joining, PlatformTrouble(id: .platformAccount, context: why))
    case .failed(.unsupported), .failed(.parentGone), .failed(.refused): endJoining(joining, nil)
    }
  }

  private mutating func standingCame(_ answer: ServiceAnswer, _ joining: Joining) {
    let own = validAuthentication?.signIn.source
    switch PlatformRules.start(standing(answer), own: own, terms: { terms(of: $0) }) {
    case .exchange(let provider): begin(newExchange(provider), joining)
    case .silence: endJoining(joining, nil)
    case .tell(let trouble): endJoining(joining, trouble)
    case .forgetOwn:
      store(.authentication(nil))
      endJoining(joining, nil)
    }
  }

  private mutating func begin(_ exchange: PlatformExchange?, _ joining: Joining) {
    guard let exchange else { return endJoining(joining, nil) }
    guard let ahead = joining.ahead, ahead.exchange == exchange else {
      return go(on: exchange, to: .request, .profileRequest(provider: exchange.provider), joining)
    }
    var joining = joining
    joining.ahead = nil
    joining.exchange = exchange
    joining.call = ahead.call
    phase = .joining(joining)
    if let answer = ahead.answer { joiningAnswered(answer, ahead.call) }
  }

  private mutating func go(
    on exchange: PlatformExchange, to step: PlatformExchange.Step, _ operation: OutgoingCall.Operation,
    _ joining: Joining
  ) {
    var (joining, exchange) = (joining, exchange)
    drop(joining.ahead?.call)
    joining.ahead = nil
    exchange.step = step
    joining.exchange = exchange
    joining.call = send(operation, to: exchange.service, for: .joining)
    phase = .joining(joining)
  }

  private mutating func endJoining(_ joining: Joining, _ trouble: PlatformTrouble?) {
    drop(joining.ahead?.call)
    if let trouble {
      for request in joining.requests { tell(trouble, request) }
    }
    configured(joining.requests)
  }

  /// Ends the configuration: reports it to the app and runs the queued calls.
  mutating func configured(_ requests: [RequestID]) {
    phase = .ready
    for request in requests {
      tell(.setRequestorComplete(.success), request)
      finish(request, .configured(providers))
    }
    runQueue()
  }

  /// Creates an exchange of the box's sign-in with the service that has this provider; nil if no service has it.
  func newExchange(_ provider: String) -> PlatformExchange? {
    let responder = responders.first { one in one.providers.contains { $0.id.isSameText(as: provider) } }
    return responder.map { PlatformExchange(provider: provider, service: $0.service, step: .request) }
  }

  func standing(_ answer: ServiceAnswer) -> PlatformStanding {
    guard case .platform(let said) = answer else { return .silent("the daemon's answer cannot be read") }
    return PlatformStanding(said, own: validAuthentication?.signIn.source)
  }

  // MARK: checkAuthentication

  mutating func checkWithPlatform(_ request: RequestID) {
    pendingCalls[request] = .checking
    _ = ask(.status, for: .pendingCall(request))
  }

  mutating func checked(_ answer: ServiceAnswer, _ request: RequestID) {
    let kept = validAuthentication
    let decision = PlatformRules.check(standing(answer), own: kept?.signIn.source, terms: ownTerms)
    if let trouble = decision.trouble { tell(trouble, request) }
    if decision.isIn, let kept {
      tellSignedIn(kept.signIn, request, isCached: true)
    } else {
      tellNobodyIsIn(request)
    }
  }
}
