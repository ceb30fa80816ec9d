import RegentPairing

/// The rules of the enabler: events in, actions out.
///
/// No clock, no socket, no file: the time comes with each event, and what must be done goes out as actions. Whatever
/// can happen in whatever phase is decided here; `Tests/AccessEnablerTests` holds the whole table.
///
/// Three promises hold in every history: each call of the app is finished once, nothing is told for a call after it was
/// cancelled or finished, and calls that had to wait run in the order they came.
struct Machine: Sendable {
  let settings: MachineSettings
  var phase = Phase.unconfigured
  var requestor = ""
  var services: [String] = []
  /// The services that answered, the fastest first.
  var responders: [Responder] = []
  var tokens = RequestorTokens()
  var options = EnablerOptions()
  /// Whom the app chose while nobody was signing in.
  var selection = Selection.usual
  /// Why no service answered the last `setRequestor`.
  var configurationProblem: EntitlementError?
  /// The last answer of its kind: for this run of the app, and for this sign-in.
  var preauthorization: Preauthorization?
  /// How many resources a service takes in one call, once one has refused more.
  var preauthorizationLimit: Int?
  /// Calls of the app that wait for the configuration or for the end of signing out, in order.
  var queue: [QueuedCall] = []
  private var isQueueFull = false
  var pendingCalls: [RequestID: PendingCall] = [:]
  var calls: [CallID: Purpose] = [:]
  var denials = DenialLog()
  var hold = HoldLength()
  /// Whether a daemon's socket is there: it may have a platform account for this app.
  var platformIsThere = false
  /// What the daemon is asked at a start, until the services have answered.
  var early: EarlyQuestion?
  private var lastNumber = 0

  private(set) var now = Instant(milliseconds: 0)
  /// Measures how long calls took: `now` follows the services' `Date` and may jump.
  private(set) var uptime = Uptime(milliseconds: 0)
  /// The call of the app that is being worked on beside a sign-in; what is told meanwhile is told for it.
  private var inHand: RequestID?
  private var actions: [MachineAction] = []

  init(_ settings: MachineSettings) {
    self.settings = settings
  }

  /// Takes what happened and says what to do, in order.
  mutating func handle(_ event: MachineEvent, at now: Instant, uptime: Uptime) -> [MachineAction] {
    self.now = now
    self.uptime = uptime
    switch event {
    case .setRequestor(let request, let details): setRequestor(request, details)
    case .app(let request, let call):
      if phase.queuesCalls {
        enqueue(QueuedCall(request: request, call: call))
      } else {
        begin(call, for: request)
      }
    case .asked(let request, let call):
      guard phase != .unconfigured else {
        fail(request, EntitlementError(.notConfigured))
        break
      }
      return handle(.app(request, call), at: now, uptime: uptime)
    case .cancel(let request): cancel(request)
    case .setOptions(let options):
      // Another profile has other rules.
      if options.applicationProfile != self.options.applicationProfile {
        preauthorization = nil
        preauthorizationLimit = nil
      }
      self.options = options
    case .answered(let id, let answer): take(answer, of: id)
    case .timer(let timer): timerRang(timer)
    case .tokens(let tokens):
      if tokens.authentication != self.tokens.authentication { preauthorization = nil }
      self.tokens = tokens
    case .platform(let isThere): platformIsThere = isThere
    case .news(let status): tell(.status(status))
    }
    defer { actions = [] }
    return actions
  }

  private mutating func begin(_ call: AppCall, for request: RequestID) {
    switch call {
    case .preauthorize, .checkAuthorization, .getAuthorization, .getMetadata: inHand = request
    default: break
    }
    defer { inHand = nil }
    switch call {
    case .checkAuthentication: checkAuthentication(request)
    case .getAuthentication(let details): getAuthentication(request, details)
    case .setSelectedProvider(let provider?): select(.provider(provider), request)
    case .setSelectedProvider(nil): goBack(request)
    case .selectOnSecondScreen: select(.onSecondScreen, request)
    case .answerTvProviderDialog(let answer): dialogAnswered(answer, request)
    case .dialogUnhandled(let dialog):
      dialogUnhandled(dialog)
      finish(request, .heard)
    case .renewCode: renewCode(request)
    case .handleExternalURL(let url): handleExternalURL(url, request)
    case .preauthorize(let resources, let usesCache):
      preauthorize(resources, usesCache: usesCache, request)
    case .checkAuthorization(let resource, let data):
      authorize(resource, data: data, mayLogIn: false, request)
    case .getAuthorization(let resource, let data):
      authorize(resource, data: data, mayLogIn: true, request)
    case .getSelectedProvider: tellSelectedProvider(request)
    case .getMetadata(let key, let arguments): getMetadata(key, arguments, request)
    case .logout: logout(request)
    }
  }

  /// Routes an answer to whoever asked; answers to calls that nobody waits for any more are dropped here.
  private mutating func take(_ answer: ServiceAnswer, of id: CallID) {
    guard let purpose = calls.removeValue(forKey: id) else { return }
    switch purpose {
    case .configuration(let service): configurationCame(answer, from: service, id)
    case .synchronization(let service): synchronizationCame(answer, from: service, id)
    case .openLogout(let service): openLogoutCame(answer, from: service, id)
    case .joining: joiningAnswered(answer, id)
    case .login: loginAnswerCame(answer, id)
    case .logout(let service, let whose): logoutCame(answer, from: service, of: whose, id)
    case .pendingCall(let request):
      inHand = request
      pendingCallAnswered(answer, for: request)
      inHand = nil
    case .nothing: break
    }
  }
}

/// Whom the app chose while nobody was signing in.
enum Selection: Hashable, Sendable {
  /// The provider of the sign-in, else the one of the last time.
  case usual
  /// The next sign-in goes there without a picker.
  case ahead(ProviderChoice)
  /// The viewer went back.
  case nobody
}

/// What a machine knows from the beginning.
struct MachineSettings: Sendable {
  var login = LoginMethod.secondScreen
  var sheetRedirectURL: String?
  /// Whether the configuration names a browser.
  var opensBrowser = false
  var services: [String] = []
  var timing = EnablerTiming()
  var deviceID = ""
  var exposesDeviceID = false
  /// Device type, client type and system, as tracking data wants them.
  var tracked = ["unknown", "linux", "Linux"]
}

/// A call that has to wait.
struct QueuedCall: Hashable, Sendable {
  let request: RequestID
  let call: AppCall
}

/// A service that answered the configuration call, and what it offers that no faster one did.
struct Responder: Hashable, Sendable {
  var service: String
  var providers: [MVPD]
  var domains: [String]
  /// Whether the requestor's apps may read the device id there.
  var exposesDeviceID = false
}

/// What the answer to a call is for.
enum Purpose: Hashable, Sendable {
  case configuration(service: String)
  case synchronization(service: String)
  /// A sign-out that an earlier run could not tell the service.
  case openLogout(service: String)
  /// The platform account at setRequestor; the phase knows what it waits for.
  case joining
  /// The phase knows what it waits for.
  case login
  case logout(service: String, requestor: String)
  case pendingCall(RequestID)
  /// Nobody waits: a code that is given back.
  case nothing
}

extension Machine {
  mutating func number() -> Int {
    lastNumber += 1
    return lastNumber
  }

  /// Tells the app: for one of its calls, else for those that wait for the sign-in under way.
  mutating func tell(_ event: EntitlementEvent, _ request: RequestID? = nil) {
    let one = request ?? inHand
    let all = one.map { [$0] } ?? phase.login?.waiters.map(\.request) ?? []
    actions.append(.tell(event, for: all))
  }

  mutating func tell(
    _ status: StatusID, message: String = "", extras: [String: String] = [:], _ request: RequestID? = nil
  ) {
    let text = message.isEmpty ? status.sentence : message
    tell(.status(EntitlementStatus(status, message: text, extras: extras)), request)
  }

  mutating func finish(_ request: RequestID, _ outcome: RequestOutcome) {
    actions.append(.finish(request, outcome))
  }

  mutating func show(inNamedBrowser url: String) { actions.append(.openBrowser(url)) }

  mutating func fail(_ request: RequestID, _ error: EntitlementError) {
    finish(request, .failed(error))
  }

  /// Changes the tokens here and on disk.
  mutating func store(_ change: StoreChange) {
    tokens.apply(change)
    actions.append(.store(change, requestor: requestor))
  }

  /// Calls a service; `isWatched` where the wait for a code asks again by itself.
  mutating func send(
    _ operation: OutgoingCall.Operation, to service: String, for purpose: Purpose, isWatched: Bool = false
  ) -> CallID {
    let id = CallID(number: number())
    calls[id] = purpose
    var call = OutgoingCall(
      id: id, requestor: requestor, service: service, operation: operation,
      deadline: deadline(of: operation, for: purpose), hold: hold.seconds)
    if operation.mayBeRepeated, !isWatched { call.patience = settings.timing.silence }
    actions.append(.call(call))
    return id
  }

  private func deadline(
    of operation: OutgoingCall.Operation, for purpose: Purpose
  ) -> Duration {
    if case .awaitCode = operation {
      // What the service may hold the answer for, and time for the rest.
      return .seconds(settings.timing.wait) + settings.timing.call
    }
    if case .platform(let question) = operation { return settings.timing.platform(question) }
    return switch purpose {
    case .configuration, .synchronization: settings.timing.configuration
    case .openLogout, .logout: settings.timing.logout + settings.timing.silence
    case .login, .pendingCall, .joining, .nothing: settings.timing.call
    }
  }

  mutating func drop(_ call: CallID?) {
    guard let call, calls.removeValue(forKey: call) != nil else { return }
    actions.append(.cancelCall(call))
  }

  mutating func startTimer(_ pause: Duration) -> TimerID {
    let timer = TimerID(number: number())
    actions.append(.startTimer(timer, pause))
    return timer
  }

  /// For what somebody waits for; pauses before asking again are spread instead.
  mutating func startDeadline(_ time: Duration) -> TimerID {
    let timer = TimerID(number: number())
    actions.append(.startDeadline(timer, time))
    return timer
  }

  mutating func drop(_ timer: TimerID?) {
    if let timer { actions.append(.stopTimer(timer)) }
  }

  /// All providers, in the order to show.
  var providers: [MVPD] { responders.flatMap(\.providers) }

  /// The sign-in that counts now.
  var validAuthentication: StoredAuthentication? {
    tokens.authentication.flatMap { $0.isValid(at: now) ? $0 : nil }
  }

  /// More than an app makes before it names its requestor; one in a loop that never does must not fill the memory.
  static let mostQueued = 1_024

  private mutating func enqueue(_ call: QueuedCall) {
    guard queue.count >= Self.mostQueued else { return queue.append(call) }
    let why = "\(Self.mostQueued) calls wait already: call setRequestor, and wait for setRequestorComplete"
    if !isQueueFull { tell(.internalError, message: why) }
    isQueueFull = true
    fail(call.request, EntitlementError(.outOfOrder, message: why))
  }

  /// Runs the calls that had to wait, in order, until one of them makes the rest wait again.
  mutating func runQueue() {
    while !phase.queuesCalls, !queue.isEmpty {
      let next = queue.removeFirst()
      begin(next.call, for: next.request)
    }
    if queue.isEmpty { isQueueFull = false }
  }
}
