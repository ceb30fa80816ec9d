import RegentHTTPCodec
import RegentPairing
import RegentPairingWire

// Waits until a viewer has approved the shown code: reads the code's record, fetches the sign-in, and handles failures
// of both requests.

extension EnablerStateMachine {
  mutating func watched(
    _ answer: ServiceAnswer, _ login: Login, _ choice: Choice, _ watch: CodeWatch
  ) {
    var watch = watch
    watch.call = nil
    phase = .waiting(login, choice, watch)
    switch answer {
    case .code(let record): recordCame(record, login, choice, watch)
    // The answer to the `.authentication` request, which the enabler sends to services that do not report a code's
    // state.
    case .authentication(let granted) where isEarlier(granted, choice, watch):
      watchFailed(Self.notYet, login, choice, watch)
    case .authentication(let granted): succeed(login, granted, from: choice.service)
    case .failed(let failure): watchFailed(failure, login, choice, watch)
    default: watchFailed(ServiceFailure(kind: .unreadable), login, choice, watch)
    }
  }

  private mutating func recordCame(
    _ record: CodeRecord, _ login: Login, _ choice: Choice, _ old: CodeWatch
  ) {
    news(record)
    guard case .waiting(_, _, var watch) = phase else { return }
    let wasAway = watch.failures > 0
    if watch.trouble != nil { tell(.connectionBack) }
    watch.failures = 0
    watch.awaySince = nil
    watch.trouble = nil
    drop(watch.report?.timer)
    watch.report = nil
    switch record.status {
    case .approved, .delivered: return fetch(login, choice, watch)
    case .denied: return end(login, .genericAuthentication, Self.denied)
    case .expired: return end(login, .genericAuthentication, Self.codeExpired)
    case .withdrawn:
      watch.isWithdrawn = true
      return fetch(login, choice, watch)
    case .offered, .opened, .claimed: break
    }
    let isNews = record.sequence != old.sequence
    watch.sequence = record.sequence
    let lasted = uptime.since(watch.asked)
    if record.wasHeld, !isNews { hold.lasted(lasted, usual: settings.timing.wait) }
    if wasAway {
      // After a failure the enabler has read the code's record once without a long poll. Now it sends a long poll for
      // the next change.
      askForNews(&watch, choice)
    } else if !record.wasHeld, record.status == .offered, record.sequence == 0 {
      // A service of another make reports no state, so only a request for the sign-in shows whether the viewer
      // approved.
      watch.asksForSignIn = true
      watch.call = send(.authentication, to: choice.service, for: .login, isWatched: true)
    } else if isNews ? watch.news.take(of: newsLimit, at: uptime) == .within : record.wasHeld && lasted >= .seconds(1) {
      askForNews(&watch, choice)
    } else {
      watch.timer = startTimer(settings.timing.poll)
    }
    phase = .waiting(login, choice, watch)
  }

  /// Limits how often a change of the code is followed by the next request without a pause.
  ///
  /// A phone that opens the page and claims the code changes it twice within milliseconds. The service answers the
  /// request after the first change at once, and the approval may follow before a pause would end. The limit stops a
  /// loop with a service that sends a new sequence number in each response. A viewer does not reach it.
  private var newsLimit: RateLimit { RateLimit(oneEvery: settings.timing.poll, burst: 8) }

  /// Reports to the app that a phone has opened the code's page, or that the number to show for number matching
  /// changed.
  mutating func news(_ record: CodeRecord) {
    guard case .waiting(let login, let choice, var watch) = phase else { return }
    let isOpen = record.status == .opened || record.status == .claimed
    let wasOpen = watch.status == .opened || watch.status == .claimed
    let isNews = isOpen && (!wasOpen || record.match != watch.match)
    watch.status = record.status
    watch.match = record.match
    phase = .waiting(login, choice, watch)
    if isNews { tellPhoneConnected(record.match) }
  }

  mutating func tellPhoneConnected(_ match: Int?) {
    if let match {
      tell(.numberMatch, message: String(match), extras: ["match": String(match)])
    } else {
      tell(.phoneConnected)
    }
    tell(.phoneConnected(match: match))
  }

  private mutating func watchFailed(
    _ failure: ServiceFailure, _ login: Login, _ choice: Choice, _ watch: CodeWatch
  ) {
    if watch.failures == 0, !watch.asksForSignIn,
      hold.shorten(failure, after: uptime.since(watch.asked), usual: settings.timing.wait)
    {
      var watch = watch
      if failure.absence == .silent {
        tellTrouble(failure, &watch)
        watch.failures = 1
      }
      askForNews(&watch, choice)
      phase = .waiting(login, choice, watch)
      return
    }
    switch failure.status {
    case 403 where failure.details == ErrorDetails.denied:
      end(login, .genericAuthentication, Self.denied)
    // The service has just restarted. A 404 may come from a proxy that finds no service yet, or from a service that has
    // not loaded its codes.
    case 404 where watch.failures > 0 && !watch.asksForSignIn && isSilent(watch):
      askAgain(failure, login, choice, watch)
    case 403, 404, 410, 412:
      if !watch.asksForSignIn {
        // The code no longer exists, perhaps because it was approved. The enabler finds out by asking for the sign-in.
        var watch = watch
        watch.isWithdrawn = failure.status == 404 && now < watch.offer.expires
        fetch(login, choice, watch)
      } else if watch.isNew {
        var watch = watch
        askForNews(&watch, choice)
        phase = .waiting(login, choice, watch)
      } else if now < watch.offer.expires {
        // Services of other makes report with this status that the viewer has not approved yet.
        poll(login, choice, watch)
      } else {
        end(login, .genericAuthentication, Self.codeExpired)
      }
    default: retryLater(failure, login, choice, watch)
    }
  }

  mutating func fetchFailed(
    _ failure: ServiceFailure, _ login: Login, _ choice: Choice, _ watch: CodeWatch
  ) {
    switch failure.status {
    case 403 where failure.details == ErrorDetails.denied:
      end(login, .genericAuthentication, Self.denied)
    case 403, 404, 410, 412:
      if watch.status == .approved || watch.status == .delivered {
        loginFailed(login, failure, as: .authenticationFailed)
      } else {
        let isWithdrawn = watch.isWithdrawn && failure.status == 404
        end(login, .genericAuthentication, isWithdrawn ? Self.codeWithdrawn : Self.codeExpired)
      }
    default: retryLater(failure, login, choice, watch)
    }
  }

  /// Continues to wait for the code after a temporary failure: the service is unreachable or busy, or a captive portal
  /// answers.
  ///
  /// The code stays on the screen until it expires.
  private mutating func retryLater(
    _ failure: ServiceFailure, _ login: Login, _ choice: Choice, _ watch: CodeWatch
  ) {
    guard failure.isPassing else {
      return loginFailed(login, failure, as: .authenticationFailed)
    }
    guard now < watch.offer.expires else {
      return end(login, .genericAuthentication, Self.codeExpired)
    }
    askAgain(failure, login, choice, watch)
  }

  private mutating func askAgain(
    _ failure: ServiceFailure, _ login: Login, _ choice: Choice, _ watch: CodeWatch
  ) {
    var watch = watch
    tellTrouble(failure, &watch)
    watch.failures += 1
    watch.call = nil
    watch.timer = startTimer(pause(after: watch, failure))
    phase = .waiting(login, choice, watch)
  }

  mutating func drop(_ watch: CodeWatch) {
    drop(watch.call)
    drop(watch.timer)
    drop(watch.report?.timer)
  }

  /// Whether the service has been unreachable for so short a time that it may only be restarting.
  private func isSilent(_ watch: CodeWatch) -> Bool {
    watch.awaySince.map { uptime.since($0) < settings.timing.silence } ?? true
  }

  /// Reports a failure of the service to the app, once per kind.
  ///
  /// A failure that a restart may have caused is reported only when a restart would be over.
  mutating func tellTrouble(_ failure: ServiceFailure, _ watch: inout CodeWatch) {
    // The kernel reports a silent service only after about seven seconds, so the outage began before the failure. The
    // next request gets two seconds more: the app learns of a disconnected cable within ten seconds.
    let earlier = failure.absence == .silent ? max(.zero, settings.timing.silence - .seconds(2)) : .zero
    watch.awaySince = watch.awaySince ?? uptime - earlier
    if failure.mayBeARestart(within: settings.timing.silence), isSilent(watch) {
      // The pauses between retries may be longer than what remains of a restart's time, so the report has its own
      // timer.
      let rest = settings.timing.silence - uptime.since(watch.awaySince ?? uptime)
      watch.report = TroubleReport(failure: failure, timer: watch.report?.timer ?? startDeadline(rest))
      return
    }
    drop(watch.report?.timer)
    watch.report = nil
    report(failure, &watch)
  }

  private mutating func report(_ failure: ServiceFailure, _ watch: inout CodeWatch) {
    let trouble: StatusID = failure.asksForPatience ? .serviceBusy : .connectionLost
    guard watch.trouble != trouble else { return }
    watch.trouble = trouble
    var extras = failure.retryAfter.map { ["retryAfter": String($0.components.seconds)] } ?? [:]
    // The extra `fault` has the same values as `EntitlementError.kind` and `fault` when a call fails.
    extras["fault"] = failure.kind == .captivePortal ? "captivePortal" : failure.fault?.rawValue
    tell(trouble, message: failure.message, extras: extras)
  }

  /// Whether the sign-in that a service returned is the one that this device already has.
  ///
  /// While a viewer signs in again, only a new sign-in ends the wait.
  func isEarlier(
    _ granted: GrantedAuthentication, _ choice: Choice, _ watch: CodeWatch
  ) -> Bool {
    guard watch.status != .approved, watch.status != .delivered, let kept = validAuthentication
    else { return false }
    return kept.service.isSameText(as: choice.service) && kept.signIn.expires == granted.expires
      && kept.signIn.userID.isSameText(as: granted.userID)
      && kept.signIn.provider.id.isSameText(as: granted.provider)
  }

  /// The failure of a service that has no sign-in for this device.
  static let notYet = ServiceFailure(kind: .status(404))

  private mutating func poll(_ login: Login, _ choice: Choice, _ watch: CodeWatch) {
    var watch = watch
    watch.timer = startTimer(settings.timing.poll)
    phase = .waiting(login, choice, watch)
  }

  mutating func timerRang(_ timer: TimerID) {
    if dialogDeadlinePassed(timer) || preauthorizationPaused(timer) || signingOutDeadlinePassed(timer) { return }
    guard case .waiting(let login, let choice, var watch) = phase else { return patienceEnded(timer) }
    switch timer {
    case watch.timer:
      watch.timer = nil
      askForNews(&watch, choice)
    case watch.report?.timer:
      let failure = watch.report?.failure
      watch.report = nil
      if let failure { report(failure, &watch) }
    default: return
    }
    phase = .waiting(login, choice, watch)
  }

  /// Asks the service for a sign-in before it waits for the code.
  ///
  /// If the provider is out of order, an operator may let the service sign in every viewer. The viewer then need not
  /// type the code.
  mutating func askFirst(_ watch: inout CodeWatch, _ choice: Choice) {
    guard choice.provider != nil else { return askForNews(&watch, choice) }
    watch.isNew = true
    watch.asksForSignIn = true
    watch.call = send(.authentication, to: choice.service, for: .login, isWatched: true)
    watch.asked = uptime
  }

  private mutating func askForNews(_ watch: inout CodeWatch, _ choice: Choice) {
    watch.asksForSignIn = false
    watch.isNew = false
    // After a failure, the first request is no long poll: the screen would show "no connection" until the long poll
    // ends.
    watch.call = send(
      watch.failures > 0
        ? .readCode(watch.offer.code) : .awaitCode(watch.offer.code, after: watch.sequence),
      to: choice.service, for: .login)
    watch.asked = uptime
  }

  /// The pause before the next retry: as long as the service asked, otherwise twice as long after each failure.
  ///
  /// The pause has a maximum, so that the enabler soon notices an approval.
  func pause(after watch: CodeWatch, _ failure: ServiceFailure) -> Duration {
    let doubled = Duration.seconds(1 << min(watch.failures - 1, 16))
    let wanted = failure.retryAfter.map { max($0, .seconds(1)) }
    return min(wanted ?? doubled, settings.timing.longestPause)
  }

  static let codeExpired = EntitlementError(
    .codeExpired, status: .notAuthenticated, message: "the registration code is over")
  static let codeWithdrawn = EntitlementError(
    .codeWithdrawn, status: .notAuthenticated, message: "another one may have taken its place")
}
