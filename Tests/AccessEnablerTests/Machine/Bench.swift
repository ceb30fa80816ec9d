import RegentPairing

@testable import AccessEnabler

/// A state machine under test: it records the actions that each event causes and answers the open calls.
struct Bench {
  var machine: EnablerStateMachine
  /// The time by the services' clock.
  ///
  /// Setting it forwards also moves the boot clock; `setClock(ahead:)` moves this clock alone.
  var now = Instant(milliseconds: 1_800_000_000_000) {
    didSet { uptime = uptime + max(.zero, now.since(oldValue)) }
  }
  private(set) var uptime = Uptime(milliseconds: 1_000_000)
  private(set) var actions: [MachineAction] = []
  private var everySent: [OutgoingCall] = []
  private var lastRequest = 0

  static let service = "https://one.example"
  static let cable = MVPD(id: "CABLE", displayName: "Cable")
  static let pass = MVPD(id: "PASS", displayName: "Pass", isTemporaryPass: true)
  static let sheet = MVPD(id: "SHEET", displayName: "Sheet", wantsSecureSheet: true)

  init(_ change: (inout MachineSettings) -> Void = { _ in }) {
    var settings = MachineSettings(
      services: [Self.service], deviceID: "device", tracked: ["tv", "linux", "Linux 12"])
    // Without the pause that hides short outages: most tests check what the app is told after it.
    settings.timing.silence = .zero
    change(&settings)
    machine = EnablerStateMachine(settings)
  }

  @discardableResult
  mutating func send(_ event: MachineEvent) -> [MachineAction] {
    let new = machine.handle(event, at: now, uptime: uptime)
    actions += new
    everySent += new.compactMap { if case .call(let call) = $0 { call } else { nil } }
    return new
  }

  /// Moves the services' clock and leaves the boot clock where it is.
  mutating func setClock(ahead span: Duration) {
    let before = uptime
    now = now + span
    uptime = before
  }

  mutating func request() -> RequestID {
    lastRequest += 1
    return RequestID(number: lastRequest)
  }

  @discardableResult
  mutating func call(_ call: AppCall) -> RequestID {
    let request = request()
    send(.app(request, call))
    return request
  }

  @discardableResult
  mutating func setRequestor(
    _ requestor: String = "SPORT", services: [String] = [], tokens: RequestorTokens? = nil
  ) -> RequestID {
    let request = request()
    send(
      .setRequestor(
        request,
        SetRequestor(
          requestor: requestor, services: services, tokens: tokens ?? machine.tokens)))
    return request
  }

  /// The calls without an answer yet, oldest first.
  var open: [OutgoingCall] {
    everySent.filter { machine.calls[$0.id] != nil }
  }

  var sent: [OutgoingCall] {
    actions.compactMap { if case .call(let call) = $0 { call } else { nil } }
  }

  /// Answers the oldest open call.
  ///
  /// A platform answer goes to the oldest call to the daemon, any other to the oldest call to a service.
  @discardableResult
  mutating func answer(_ answer: ServiceAnswer) -> [MachineAction] {
    let isDaemon = if case .platform = answer { true } else { false }
    guard let call = open.first(where: { $0.isForDaemon == isDaemon }) ?? open.first else { return [] }
    return send(.answered(call.id, answer))
  }

  mutating func ring() {
    guard case .waiting(_, _, let watch) = machine.phase, let timer = watch.timer else { return }
    send(.timer(timer))
  }

  /// The deadline that was started last.
  var deadline: TimerID? {
    actions.compactMap { if case .startDeadline(let timer, _) = $0 { timer } else { nil } }.last
  }

  var told: [EntitlementEvent] {
    actions.compactMap { if case .tell(let event, _) = $0 { event } else { nil } }
  }

  /// The URLs that the configured browser was told to open.
  var opened: [String] {
    actions.compactMap { if case .openBrowser(let url) = $0 { url } else { nil } }
  }

  var statuses: [StatusID] {
    told.compactMap { if case .status(let status) = $0 { status.id } else { nil } }
  }

  var stored: [StoreChange] {
    actions.compactMap { if case .store(let change, _) = $0 { change } else { nil } }
  }

  func outcomes(of request: RequestID) -> [RequestOutcome] {
    actions.compactMap {
      if case .finish(request, let outcome) = $0 { outcome } else { nil }
    }
  }

  func error(of request: RequestID) -> EntitlementError? {
    if case .failed(let error)? = outcomes(of: request).first { error } else { nil }
  }

  mutating func forget() { actions = [] }

  // MARK: Prepared states

  static let configuration = ServiceConfiguration(
    providers: [cable, pass, sheet], domains: ["sport.example"])

  /// A state machine with its configuration; without `tokens` it is not signed in.
  static func ready(
    tokens: RequestorTokens = RequestorTokens(),
    _ change: (inout MachineSettings) -> Void = { _ in }
  ) -> Bench {
    var bench = Bench(change)
    bench.setRequestor(tokens: tokens)
    bench.answer(.configuration(configuration))
    bench.answer(tokens.authentication == nil ? .missing : .failed(.away))
    bench.forget()
    return bench
  }

  static func signedIn(_ change: (inout MachineSettings) -> Void = { _ in }) -> Bench {
    var tokens = RequestorTokens()
    tokens.authentication = StoredAuthentication(
      signIn: SignIn(provider: cable, userID: "user", expires: Bench().now + .seconds(86_400)),
      service: service)
    return ready(tokens: tokens, change)
  }

  // MARK: With a daemon

  /// A provider that supports sign-in by the box's account.
  static let sports = MVPD(
    id: "SPORTS", displayName: "Sports", enablePlatformServices: true, boardingStatus: .supported)

  /// A state machine that has found the daemon during setRequestor and has asked it for the platform account's
  /// status.
  static func platform() -> Bench {
    var bench = Bench()
    bench.send(.platform(isThere: true))
    bench.setRequestor()
    bench.answer(
      .configuration(
        ServiceConfiguration(providers: configuration.providers + [sports], domains: ["sport.example"])))
    bench.answer(.missing)
    return bench
  }

  /// As `platform()`, after the daemon answered: the app may ask, and the box is not signed in.
  static func atPlatform() -> Bench {
    var bench = platform()
    bench.answer(.platform(.status(PlatformStatus(permission: .granted, isSignedIn: false))))
    bench.forget()
    return bench
  }

  /// A state machine while the platform's provider dialog is on the screen.
  static func presenting(_ details: AuthenticationRequest = AuthenticationRequest()) -> Bench {
    var bench = atPlatform()
    bench.call(.getAuthentication(details))
    bench.answer(.platform(.status(PlatformStatus(permission: .granted, isSignedIn: false))))
    bench.answer(.platform(.picker([sports.id])))
    return bench
  }

  /// A state machine that shows a code and waits for the phone.
  static func waiting(
    _ change: (inout MachineSettings) -> Void = { _ in }
  ) -> (bench: Bench, request: RequestID) {
    var bench = ready(change)
    let request = bench.call(
      .getAuthentication(AuthenticationRequest(choice: .provider("CABLE"))))
    bench.answer(.code(.offered))
    bench.answer(.missing)
    return (bench, request)
  }
}

extension OutgoingCall {
  var isForDaemon: Bool { if case .platform = operation { true } else { false } }
}

extension PlatformAnswer {
  static let boxCode = PlatformAnswer.code(
    signIn: "a", after: 1,
    RegistrationOffer(
      code: "BCDFGHJK", display: "BCDF-GHJK", url: "https://box.example", urlComplete: "HTTPS://BOX.EXAMPLE/D/B",
      expires: Bench().now + .seconds(600), provider: nil, service: ""))
}

extension ServiceAnswer {
  static let missing = ServiceAnswer.failed(
    ServiceFailure(kind: .status(404), message: "Not Found"))
  static let granted = ServiceAnswer.authentication(.regular)
}

extension GrantedAuthentication {
  static let regular = GrantedAuthentication(
    provider: "CABLE", userID: "user", expires: Bench().now + .seconds(86_400), source: .regular)
}

extension ServiceFailure {
  static let away = ServiceFailure(kind: .unreachable, message: "nobody listens there")
  static func status(_ status: Int, details: String? = nil) -> ServiceFailure {
    ServiceFailure(kind: .status(status), message: "status \(status)", details: details)
  }
}

extension CodeRecord {
  static let offered = record(.offered, 1)

  static func record(
    _ status: PairingStatus, _ sequence: Int, match: Int? = nil, wasHeld: Bool = true,
    code: String = "BCDFGHJK"
  ) -> CodeRecord {
    CodeRecord(
      code: code, url: "https://one.example", urlComplete: "HTTPS://ONE.EXAMPLE/D/\(code)",
      expires: Bench().now + .seconds(1_800), status: status, sequence: sequence, match: match,
      wasHeld: wasHeld)
  }
}
