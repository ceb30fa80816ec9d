import RegentPairing
import Testing

@testable import AccessEnabler

@Suite("State machine: random histories")
struct RandomWalkTests {
  /// 20 walks of 5,000 events; a seed repeats its walk.
  @Test(arguments: 0..<20)
  func `a random history breaks no rule of the state machine`(seed: UInt64) {
    var walk = Walk(seed: seed)
    for _ in 0..<5_000 { walk.step() }
    walk.end()
    #expect(walk.broken == [], "seed \(seed)")
    #expect(walk.finished > 500, "a walk in which few calls end tests nothing")
  }
}

/// A walk of random events that checks rules which hold for every history.
private struct Walk {
  var bench: Bench
  var generator: Numbers
  /// The app's calls that have not ended.
  var live: Set<RequestID> = []
  var over: Set<RequestID> = []
  /// Queued calls that have not begun, in order.
  var queued: [RequestID] = []
  var timers: Set<TimerID> = []
  var broken: [String] = []
  var finished = 0
  /// The platform's dialog on the screen, if any.
  var dialog: ProviderDialog?

  init(seed: UInt64) {
    generator = Numbers(state: seed &* 0x9E37_79B9_7F4A_7C15 &+ 1)
    bench = Bench { settings in
      if seed % 3 == 2 { settings.login = .browser(redirectURL: "app://done") }
    }
  }

  mutating func step() {
    bench.forget()
    bench.now = bench.now + .milliseconds(Int64.random(in: 0...20_000, using: &generator))
    switch Int.random(in: 0..<100, using: &generator) {
    case 0..<4: setRequestor()
    case 4..<40: call()
    case 40..<46: cancel()
    case 46..<90: answer()
    case 90..<96: ring()
    case 96..<97: stray()
    case 97..<98: check(bench.send(.platform(isThere: Bool.random(using: &generator))))
    default:
      check(bench.send(.tokens(bench.machine.tokens)))
    }
  }

  /// Answers everything that is open, after which every call must have ended.
  mutating func end() {
    bench.forget()
    let request = bench.request()
    live.insert(request)
    let details = SetRequestor(
      requestor: "LAST", services: ["https://one.example"], tokens: RequestorTokens())
    check(bench.send(.setRequestor(request, details)))
    for _ in 0..<10_000 {
      guard let call = openCall() else { break }
      check(bench.send(.answered(call, .failed(.status(404)))))
    }
    for request in live.sorted(by: { $0.number < $1.number }) {
      bench.send(.cancel(request))
    }
  }

  private mutating func setRequestor() {
    let request = bench.request()
    live.insert(request)
    let name = Bool.random(using: &generator) ? "SPORT" : "NEWS"
    let services = [["https://one.example"], ["https://one.example", "https://two.example"]]
    let tokens =
      name == bench.machine.requestor ? bench.machine.tokens : RequestorTokens()
    let details = SetRequestor(
      requestor: name, services: services.randomElement(using: &generator) ?? [], tokens: tokens)
    check(bench.send(.setRequestor(request, details)))
  }

  private mutating func call() {
    let providers = ["CABLE", "PASS", "SHEET", "NOBODY"]
    let provider = providers.randomElement(using: &generator) ?? ""
    let calls: [AppCall] = [
      .checkAuthentication, .getAuthentication(AuthenticationRequest()),
      .getAuthentication(AuthenticationRequest(isForced: true)),
      .getAuthentication(AuthenticationRequest(isForced: true, choice: .provider(provider))),
      .getAuthentication(AuthenticationRequest(choice: .onSecondScreen)),
      .setSelectedProvider(provider), .setSelectedProvider(nil), .selectOnSecondScreen,
      .renewCode, .handleExternalURL("app://done"), .handleExternalURL("app://done?error=x"),
      .preauthorize(["a", "b"], usesCache: true), .preauthorize(["a"], usesCache: false),
      .checkAuthorization("a", data: [:]), .getAuthorization("b", data: [:]),
      .getSelectedProvider, .getMetadata(.user("zip"), arguments: [:]),
      .getMetadata(.authenticationExpiry, arguments: [:]), .logout,
      .answerTvProviderDialog(.provider(provider)), .answerTvProviderDialog(.provider("SPORTS")),
      .answerTvProviderDialog(.other), .answerTvProviderDialog(.cancel),
    ]
    let request = bench.request()
    live.insert(request)
    let isAwaited = Bool.random(using: &generator)
    let endsAtOnce = isAwaited && bench.machine.phase == .unconfigured
    if bench.machine.phase.queuesCalls, !endsAtOnce { queued.append(request) }
    let call = calls.randomElement(using: &generator) ?? .logout
    check(bench.send(isAwaited ? .asked(request, call) : .app(request, call)))
  }

  private mutating func cancel() {
    guard let request = live.sorted(by: { $0.number < $1.number }).randomElement(using: &generator)
    else { return }
    live.remove(request)
    over.insert(request)
    queued.removeAll { $0 == request }
    check(bench.send(.cancel(request)))
  }

  private mutating func openCall() -> CallID? {
    bench.machine.calls.keys.sorted { $0.number < $1.number }.randomElement(using: &generator)
  }

  private mutating func answer() {
    guard let call = openCall(), let purpose = bench.machine.calls[call] else { return }
    let isForDaemon = bench.open.contains { if case .platform = $0.operation { $0.id == call } else { false } }
    check(bench.send(.answered(call, plausible(purpose, isForDaemon: isForDaemon))))
  }

  /// Sends an answer to a call that has ended or was never made.
  private mutating func stray() {
    let call = CallID(number: Int.random(in: 0..<100_000, using: &generator))
    guard bench.machine.calls[call] == nil else { return }
    let actions = bench.send(.answered(call, .granted))
    if !actions.isEmpty { broken.append("a stray answer did something") }
    let timer = TimerID(number: Int.random(in: 1_000_000..<2_000_000, using: &generator))
    if !bench.send(.timer(timer)).isEmpty { broken.append("a stray timer did something") }
  }

  private mutating func ring() {
    guard let timer = timers.sorted(by: { $0.number < $1.number }).first else { return }
    timers.remove(timer)
    check(bench.send(.timer(timer)))
  }

  private var walked: ServiceConfiguration {
    ServiceConfiguration(
      providers: Bench.configuration.providers + [Bench.sports], domains: Bench.configuration.domains)
  }

  private mutating func daemon() -> PlatformAnswer {
    let isIn = Bool.random(using: &generator)
    let permission: PlatformPermission =
      Int.random(in: 0..<4, using: &generator) == 0
      ? PlatformPermission.allCases.randomElement(using: &generator) ?? .denied : .granted
    var status = PlatformStatus(permission: permission, isSignedIn: isIn, provider: isIn ? "SPORTS" : nil)
    if Int.random(in: 0..<8, using: &generator) == 0 { status.failure = "it failed" }
    let ends: [PlatformNews.End?] = [nil, nil, .authenticated, .denied, .expired, .failed]
    let answers: [PlatformAnswer] = [
      .status(status), .status(status), .absent, .silent("silent"), .assertion("word"), .picker(["SPORTS"]), .boxCode,
      .news(
        PlatformNews(last: 3, match: isIn ? 42 : nil, isOpened: isIn, end: ends.randomElement(using: &generator) ?? nil)
      ),
      .refused(.account, "no"), .refused(.provider, "no"),
    ]
    return answers.randomElement(using: &generator) ?? .absent
  }

  private mutating func plausible(_ purpose: Purpose, isForDaemon: Bool = false) -> ServiceAnswer {
    let expires = bench.now + .seconds(Int64.random(in: 1...3_600, using: &generator))
    var record = CodeRecord.record(
      PairingStatus.allCases.randomElement(using: &generator) ?? .offered,
      Int.random(in: 0...9, using: &generator), wasHeld: Bool.random(using: &generator))
    record.expires = expires
    var granted = GrantedAuthentication.regular
    granted.expires = expires
    let failures: [ServiceFailure] = [
      .away, .status(400), .status(401), .status(403), .status(404), .status(410), .status(412),
      .status(429), .status(500), .status(403, details: "denied"),
      ServiceFailure(kind: .unreadable), ServiceFailure(kind: .registration),
      ServiceFailure(kind: .status(403), message: "User not Authenticated"),
    ]
    let good: [ServiceAnswer] = [
      .authentication(granted), .code(record), .done,
      .permit(StoredPermit(expires: expires, source: .mvpd)),
      .mediaToken(PendingCallTests.access), .preauthorized(["a"]), .metadata([:]),
      .configuration(walked), .profileRequest("cmVxdWVzdA=="), .platform(daemon()),
    ]
    // Calls to the daemon mostly get an answer of the daemon, now and then one of the wrong kind.
    if isForDaemon, Int.random(in: 0..<8, using: &generator) > 0 { return .platform(daemon()) }
    switch purpose {
    case .configuration where Int.random(in: 0..<4, using: &generator) > 0:
      return .configuration(walked)
    default: break
    }
    // One in four answers is a failure; the others are picked at random and often answer another kind of call.
    return Int.random(in: 0..<4, using: &generator) == 0
      ? .failed(failures.randomElement(using: &generator) ?? .away)
      : good.randomElement(using: &generator) ?? .done
  }

  /// The platform's dialog is presented and dismissed in turn, and dismissed before another picker appears.
  private mutating func checkDialog(_ event: EntitlementEvent) {
    switch event {
    case .presentTvProviderDialog(let new):
      if dialog != nil { broken.append("a dialog over a dialog") }
      dialog = new
    case .dismissTvProviderDialog(let old):
      if dialog != old { broken.append("a dialog that is not there was taken away") }
      dialog = nil
    case .displayProviderDialog:
      if dialog != nil { broken.append("a picker over the platform's dialog") }
    default: break
    }
  }

  /// Checks the rules on the actions that one event caused.
  private mutating func check(_ actions: [MachineAction]) {
    for action in actions {
      switch action {
      case .tell(let event, let requests):
        if !over.isDisjoint(with: requests) {
          broken.append("\(event) after the end of its call")
        }
        checkDialog(event)
      case .finish(let request, _):
        if !live.contains(request) { broken.append("call \(request.number) ended twice") }
        // Queued calls begin in order. A call may end later than its successor, but not before its predecessors have
        // begun.
        if let place = queued.firstIndex(of: request) {
          if bench.machine.queue.contains(where: { queued[..<place].contains($0.request) }) {
            broken.append("call \(request.number) overtook another")
          }
        }
        live.remove(request)
        over.insert(request)
        finished += 1
      case .startTimer(let timer, let pause):
        timers.insert(timer)
        if pause <= .zero || pause > .seconds(60) { broken.append("a pause of \(pause)") }
      case .startDeadline(let timer, let time):
        timers.insert(timer)
        let isDialog = time == bench.machine.settings.timing.dialog
        if time <= .zero || time > .seconds(2) && !isDialog { broken.append("a deadline of \(time)") }
      case .stopTimer(let timer): timers.remove(timer)
      case .call(let call):
        if bench.machine.calls[call.id] == nil, !actions.contains(.cancelCall(call.id)) {
          broken.append("a call that the machine does not wait for")
        }
      default: break
      }
    }
    queued = bench.machine.queue.map(\.request)
    if bench.machine.queue
      != bench.machine.queue.sorted(by: { $0.request.number < $1.request.number })
    {
      broken.append("the queue lost its order")
    }
    if case .waiting(_, _, let watch) = bench.machine.phase,
      (watch.call == nil) == (watch.timer == nil)
    {
      broken.append("a wait with neither call nor timer, or both")
    }
    if !bench.machine.phase.queuesCalls, !bench.machine.queue.isEmpty {
      broken.append("calls are queued in a phase that does not queue")
    }
  }
}

/// A small seeded random number generator.
struct Numbers: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    var mixed = state
    mixed = (mixed ^ (mixed >> 33)) &* 0xFF51_AFD7_ED55_8CCD
    return mixed ^ (mixed >> 33)
  }
}
