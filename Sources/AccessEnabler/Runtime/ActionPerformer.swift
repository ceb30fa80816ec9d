import RegentHTTPClient
import RegentPairing
import RegentPairingWire
import RegentPlatform

/// Carries out the actions of the state machine: sends requests, stores tokens, runs timers, and passes events to the
/// dispatcher.
actor ActionPerformer {
  private var machine: EnablerStateMachine
  private let configuration: EnablerConfiguration
  private let store: TokenStore
  private let caller: ServiceCaller
  nonisolated let clock: ServerClock
  private let platform: PlatformLink?
  private let dispatcher: EventDispatcher
  private let outbox: AsyncStream<EnablerRuntime.Envelope>.Continuation
  private var calls: [CallID: Task<Void, Never>] = [:]
  private var timers: [TimerID: Task<Void, Never>] = [:]
  /// The timers that are pauses before a retry.
  private var pauses: Set<TimerID> = []
  private var keptServerTime: Int64

  init(
    _ configuration: EnablerConfiguration, _ store: TokenStore, _ dispatcher: EventDispatcher,
    _ outbox: AsyncStream<EnablerRuntime.Envelope>.Continuation
  ) {
    let device = DeviceFacts.complete(configuration.device)
    self.configuration = configuration
    self.store = store
    self.dispatcher = dispatcher
    self.outbox = outbox
    caller = ServiceCaller(configuration, store, device) {
      outbox.yield(EnablerRuntime.Envelope(message: .networkChanged, request: RequestID(number: 0)))
      configuration.onNetworkChange?()
    }
    clock = caller.clock
    platform = PlatformLink(configuration.platformAccount)
    keptServerTime = store.serverTime
    machine = EnablerStateMachine(
      MachineSettings(
        login: configuration.login, sheetRedirectURL: configuration.sheetRedirectURL,
        opensBrowser: !configuration.browser.isEmpty,
        services: (configuration.services.isEmpty ? DefaultServices.find() : configuration.services)
          .map(\.withoutSlashAtTheEnd),
        timing: configuration.timing, deviceID: store.installation.deviceID,
        exposesDeviceID: configuration.exposesDeviceID, tracked: DeviceFacts.tracked(device)))
  }

  /// Handles the messages to the enabler one by one, until the app releases its enabler.
  func run(_ envelopes: AsyncStream<EnablerRuntime.Envelope>) async {
    if let news = store.openingNews { await handle(.news(news)) }
    for await envelope in envelopes { await take(envelope) }
    for task in calls.values { task.cancel() }
    for task in timers.values { task.cancel() }
    caller.client.close()
    platform?.close()
    dispatcher.close()
  }

  private func take(_ envelope: EnablerRuntime.Envelope) async {
    switch envelope.message {
    case .setRequestor(let requestor, let services):
      await refresh()
      let details = SetRequestor(
        requestor: requestor, services: (services ?? []).map(\.withoutSlashAtTheEnd),
        tokens: store.tokens(of: requestor))
      await handle(.setRequestor(envelope.request, details))
    case .app(let call):
      await refresh()
      await handle(.app(envelope.request, call))
    case .asked(let call):
      await refresh()
      await handle(.asked(envelope.request, call))
    case .cancel(let request):
      await handle(.cancel(request))
      dispatcher.finish(request, .failed(EntitlementError(.cancelled)))
    case .options(let options): await handle(.setOptions(options))
    case .credentials(let credentials): caller.use(credentials)
    case .signedRequestorID(let signed): caller.use(signedRequestorID: signed)
    case .answered(let call, let answer, let turn):
      calls[call] = nil
      await handle(.answered(call, answer))
      // The code is stored now, so release the lock for requesting a code. Other processes that share this store then
      // find the code in it.
      withExtendedLifetime(turn) {}
    case .timer(let timer): await rang(timer)
    case .networkChanged:
      for timer in pauses {
        timers[timer]?.cancel()
        await rang(timer)
      }
    case .news(let status): await handle(.news(status))
    }
  }

  private func rang(_ timer: TimerID) async {
    timers[timer] = nil
    pauses.remove(timer)
    await handle(.timer(timer))
  }

  /// Reads the token store again, because another process may have changed it.
  private func refresh() async {
    if let news = store.refresh() { await handle(.news(news)) }
    let tokens = store.tokens(of: machine.requestor)
    if tokens != machine.tokens { await handle(.tokens(tokens)) }
    await lookForPlatform()
  }

  /// Tells the machine whether a daemon is present.
  ///
  /// If there is no daemon, this costs only a check whether its sockets exist.
  private func lookForPlatform() async {
    let isThere = platform?.isThere ?? false
    if isThere != machine.platformIsThere { await handle(.platform(isThere: isThere)) }
  }

  /// The stored sign-in if it is still valid.
  ///
  /// Does not wait for a running call.
  func kept(_ requestor: String) -> SignIn? {
    _ = store.refresh()
    guard let kept = store.tokens(of: requestor).authentication, kept.isValid(at: caller.clock.now) else { return nil }
    return kept.signIn
  }

  func unfinishedSignOut(_ requestor: String) -> UnfinishedSignOut {
    _ = store.refresh()
    return UnfinishedSignOut(
      isUntold: !store.tokens(of: requestor).unfinishedLogouts.isEmpty,
      unkept: store.unkeptSignOut(of: requestor)?.description)
  }

  /// The service that granted the sign-in, or the first configured one.
  private func service(of requestor: String) -> String? {
    store.tokens(of: requestor).authentication?.service ?? machine.settings.services.first
  }

  func serviceTime(for requestor: String) -> Instant {
    service(of: requestor).map(caller.clock.now(for:)) ?? caller.clock.now
  }

  /// Sends a request without the state machine, to the service that granted the sign-in.
  func answer(to operation: OutgoingCall.Operation, for requestor: String) async -> ServiceAnswer {
    guard let service = service(of: requestor) else {
      return .failed(ServiceFailure(kind: .unreachable, message: "no service was named"))
    }
    var deadline = machine.settings.timing.call
    if case .box(.decisions(_, let wait)) = operation { deadline += .seconds(wait) }
    let call = OutgoingCall(
      id: CallID(number: 0), requestor: requestor, service: service, operation: operation, deadline: deadline)
    return await caller.perform(call, machine.options).answer
  }

  private func handle(_ event: MachineEvent) async {
    let uptime = Uptime(milliseconds: Int64(clamping: Clocks.bootNanoseconds() / 1_000_000))
    let actions = machine.handle(event, at: caller.clock.now, uptime: uptime)
    // Store first, then report, so that what a callback reports survives a crash. This applies to registration codes
    // too. A viewer may have typed a code into a phone, and must find the same code on the screen after the box was
    // switched off and on.
    await save(actions)
    for action in actions { perform(action) }
  }

  private func save(_ actions: [MachineAction]) async {
    var changes: [TokenStore.UnsavedChange] = []
    for case .store(let change, let requestor) in actions {
      changes.append(.tokens(requestor, change))
    }
    guard !changes.isEmpty else { return }
    let seen = caller.client.lastSeenServerTime
    if seen > keptServerTime {
      changes.append(.serverTime(seen))
      keptServerTime = seen
    }
    guard let error = await store.saveOffPool(changes) else { return }
    // The tokens could not be stored. Report the error to the calls of the app that wait for the sign-in, and to those
    // to which these actions deliver an event.
    var concerned = Set(machine.phase.login?.waiters.map(\.request) ?? [])
    for case .tell(_, let requests) in actions { concerned.formUnion(requests) }
    dispatcher.tell(
      .status(
        EntitlementStatus(
          .internalError, message: error.description,
          extras: ["details": error.hint ?? ""])), for: Array(concerned))
  }

  private func perform(_ action: MachineAction) {
    switch action {
    case .tell(let event, let requests): dispatcher.tell(event, for: requests)
    case .finish(let request, let outcome): dispatcher.finish(request, outcome)
    case .call(let call): start(call)
    case .cancelCall(let id): calls.removeValue(forKey: id)?.cancel()
    case .startTimer(let timer, let pause):
      pauses.insert(timer)
      start(timer, Self.spread(pause, Double.random(in: 0...1)))
    case .startDeadline(let timer, let time): start(timer, time)
    case .stopTimer(let timer):
      timers.removeValue(forKey: timer)?.cancel()
      pauses.remove(timer)
    case .store: break
    case .openBrowser(let url): open(url)
    }
  }

  /// Opens a page with the configured program.
  ///
  /// If the program cannot be started, the app is asked to open the page.
  private func open(_ url: String) {
    guard let program = configuration.browser.first else { return }
    do throws(SystemError) {
      try DetachedProgram.start(program, configuration.browser.dropFirst() + [url])
    } catch {
      dispatcher.tell(.status(EntitlementStatus(.internalError, message: error.description)))
      dispatcher.tell(.navigateToUrl(url, useSecureSheet: false))
    }
  }

  private func start(_ call: OutgoingCall) {
    if case .platform(let question) = call.operation { return ask(question, call) }
    // The box's shared account will probably sign this app in, so force the device id to disk (fsync) now.
    if case .profileRequest = call.operation { store.installAheadOffPool() }
    let (caller, outbox, options, store) = (caller, outbox, machine.options, store)
    calls[call.id] = Task {
      let (outcome, turn) = await store.takingTurns(call, at: caller.clock) { call in
        await caller.perform(call, options)
      }
      guard !Task.isCancelled else { return }
      let request = RequestID(number: 0)
      if outcome.isClockWrong {
        let status = EntitlementStatus(
          .clockWrong, message: "this device's clock is wrong; the service's is used instead")
        outbox.yield(EnablerRuntime.Envelope(message: .news(status), request: request))
      }
      outbox.yield(EnablerRuntime.Envelope(message: .answered(call.id, outcome.answer, turn), request: request))
    }
  }

  private func ask(_ question: PlatformQuestion, _ call: OutgoingCall) {
    let (platform, outbox) = (platform, outbox)
    calls[call.id] = Task {
      let answer = await platform?.answer(to: question, for: call.requestor, within: call.deadline) ?? .absent
      guard !Task.isCancelled else { return }
      let request = RequestID(number: 0)
      outbox.yield(EnablerRuntime.Envelope(message: .answered(call.id, .platform(answer), nil), request: request))
    }
  }

  /// Lengthens a pause by a random part of a quarter of it plus up to three seconds.
  ///
  /// When a service goes down, many boxes begin to wait at the same moment. Random pauses spread the return of 18,000
  /// boxes over several seconds. A pause never gets shorter than the service asked for.
  static func spread(_ pause: Duration, _ draw: Double) -> Duration {
    pause + (pause / 4 + min(pause, .seconds(3))) * draw
  }

  private func start(_ timer: TimerID, _ pause: Duration) {
    let outbox = outbox
    timers[timer] = Task {
      do { try await Task.sleep(for: pause) } catch { return }
      outbox.yield(EnablerRuntime.Envelope(message: .timer(timer), request: RequestID(number: 0)))
    }
  }
}

extension String {
  fileprivate var withoutSlashAtTheEnd: String {
    var text = self[...]
    while text.utf8.last == UInt8(ascii: "/") { text = text.dropLast() }
    return String(text)
  }
}
