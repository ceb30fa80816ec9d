import RegentPairing

/// The state machine of the enabler: events in, actions out.
///
/// It has no clock, socket or file: each event comes with the time, and the caller carries out the returned actions.
/// Every decision is made here; `Tests/AccessEnablerTests` tests each event in each phase.
///
/// Three things hold always: each call of the app is finished exactly once; no event is reported for a call after it
/// was cancelled or finished; queued calls run in the order in which the app made them.
struct EnablerStateMachine: Sendable {
  let settings: MachineSettings
  var phase = Phase.unconfigured
  var requestor = ""
  var services: [String] = []
  /// The services that answered the configuration request of `setRequestor`, the fastest first.
  var responders: [Responder] = []
  var tokens = RequestorTokens()
  var options = EnablerOptions()
  /// The provider that the app selected while no sign-in was running.
  var selection = Selection.usual
  /// Why the last `setRequestor` got no answer from any service.
  var configurationProblem: EntitlementError?
  /// The result of the last preauthorization, cached for this run of the app and this sign-in.
  var preauthorization: Preauthorization?
  /// The number of resources that the service accepts in one preauthorization; nil until it has refused a longer list.
  var preauthorizationLimit: Int?
  /// Calls of the app that wait for the end of the configuration or of a sign-out, in order.
  var queue: [QueuedCall] = []
  private var isQueueFull = false
  var pendingCalls: [RequestID: PendingCall] = [:]
  var calls: [CallID: Purpose] = [:]
  var denials = DenialLog()
  var hold = LongPollDuration()
  /// Whether the service refused this device's sign-in because the account is disabled.
  var isAccountDisabled = false
  /// Whether the socket of the box's daemon exists.
  ///
  /// The daemon may have an account that this app can share.
  var platformIsThere = false
  /// The status request that was sent to the daemon before the services answered; nil when it has been used.
  var early: EarlyQuestion?
  private var lastNumber = 0

  private(set) var now = Instant(milliseconds: 0)
  /// The time since the system started, for measuring how long requests took.
  ///
  /// ``now`` follows the `Date` of the services and may jump.
  private(set) var uptime = Uptime(milliseconds: 0)
  /// The app's call that is being handled while a sign-in may run.
  ///
  /// Events without a call of their own are reported for this call.
  private var inHand: RequestID?
  private var actions: [MachineAction] = []

  init(_ settings: MachineSettings) {
    self.settings = settings
  }

  /// Handles one event and returns the actions to carry out, in order.
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
      // The number of resources that a service accepts in one request depends on the application profile.
      if options.applicationProfile != self.options.applicationProfile { forgetPreauthorization() }
      self.options = options
    case .answered(let id, let answer): take(answer, of: id)
    case .timer(let timer): timerRang(timer)
    case .tokens(let tokens):
      if tokens.authentication != self.tokens.authentication { forgetPreauthorization() }
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

  /// Passes an answer to the code that sent the request.
  ///
  /// Answers to cancelled requests are dropped.
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

/// The provider that the app selected while no sign-in was running.
enum Selection: Hashable, Sendable {
  /// No provider is selected, so the provider of the sign-in counts, or else the last selected provider.
  case usual
  /// The next sign-in uses this selected provider without a picker.
  case ahead(ProviderChoice)
  /// The viewer left the picker, so no provider is selected.
  case noProvider
}

/// The settings of a machine that do not change.
struct MachineSettings: Sendable {
  var login = LoginMethod.secondScreen
  var sheetRedirectURL: String?
  /// Whether the configuration names a program that opens the browser.
  var opensBrowser = false
  var services: [String] = []
  var timing = EnablerTiming()
  var deviceID = ""
  var exposesDeviceID = false
  /// Device type, client type and operating system for tracking events.
  var tracked = ["unknown", "linux", "Linux"]
}

/// A call of the app that waits until the configuration, sign-in or sign-out has ended.
struct QueuedCall: Hashable, Sendable {
  let request: RequestID
  let call: AppCall
}

/// A service that answered the configuration request, with those of its providers that no faster service has listed.
struct Responder: Hashable, Sendable {
  var service: String
  var providers: [MVPD]
  var domains: [String]
  /// Whether the service lets the requestor's apps read the device id.
  var exposesDeviceID = false
}

/// Why a request was sent, which decides what handles its answer.
enum Purpose: Hashable, Sendable {
  case configuration(service: String)
  case synchronization(service: String)
  /// Repeats a sign-out that did not reach the service in an earlier run.
  case openLogout(service: String)
  /// The request belongs to the exchange of the box's sign-in at `setRequestor`. The phase holds the step.
  case joining
  /// The request belongs to a sign-in. The phase holds the step.
  case login
  case logout(service: String, requestor: String)
  case pendingCall(RequestID)
  /// The answer is ignored, for example after deleting a code.
  case nothing
}

extension EnablerStateMachine {
  mutating func number() -> Int {
    lastNumber += 1
    return lastNumber
  }

  /// Reports an event for one call of the app, or else for all calls that wait for the running sign-in.
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

  /// Changes the tokens in memory and on disk.
  mutating func store(_ change: StoreChange) {
    tokens.apply(change)
    actions.append(.store(change, requestor: requestor))
  }

  /// Sends a request to a service.
  ///
  /// With `isWatched`, a failed request is not repeated here, because the code that waits for the approval repeats it.
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
      // The time limit of a long poll: the time for which the service may hold the response, plus the time of a normal
      // request.
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

  /// Starts a timer of exactly this length.
  ///
  /// The timers of ``startTimer(_:)``, by contrast, are randomly lengthened.
  mutating func startDeadline(_ time: Duration) -> TimerID {
    let timer = TimerID(number: number())
    actions.append(.startDeadline(timer, time))
    return timer
  }

  mutating func drop(_ timer: TimerID?) {
    if let timer { actions.append(.stopTimer(timer)) }
  }

  /// All providers of the services that answered, in the order to show.
  var providers: [MVPD] { responders.flatMap(\.providers) }

  /// The error for a call that needs a sign-in while there is none.
  func notSignedIn(_ status: StatusID? = nil) -> EntitlementError {
    EntitlementError(isAccountDisabled ? .accountDisabled : .notAuthenticated, status: status)
  }

  /// The stored sign-in if it has not expired.
  var validAuthentication: StoredAuthentication? {
    tokens.authentication.flatMap { $0.isValid(at: now) ? $0 : nil }
  }

  /// The maximum number of queued calls.
  ///
  /// An app makes fewer before `setRequestor`; the limit keeps an app that calls in a loop from filling the memory.
  static let mostQueued = 1_024

  private mutating func enqueue(_ call: QueuedCall) {
    guard queue.count >= Self.mostQueued else { return queue.append(call) }
    let why = "\(Self.mostQueued) calls wait already: call setRequestor, and wait for setRequestorComplete"
    if !isQueueFull { tell(.internalError, message: why) }
    isQueueFull = true
    fail(call.request, EntitlementError(.outOfOrder, message: why))
  }

  /// Runs the queued calls in order, until one of them starts a configuration or sign-out, during which calls are
  /// queued again.
  mutating func runQueue() {
    while !phase.queuesCalls, !queue.isEmpty {
      let next = queue.removeFirst()
      begin(next.call, for: next.request)
    }
    if queue.isEmpty { isQueueFull = false }
  }
}
