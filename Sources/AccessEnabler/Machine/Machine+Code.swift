import RegentHTTPCodec
import RegentPairing
import RegentPairingWire

// The second screen: a code is made, shown and waited for. And the browser on this device, which needs a code as well.

extension Machine {
  /// Goes on with an earlier code of the same choice when there is one, else asks for a new one.
  mutating func register(_ login: Login, _ choice: Choice) {
    if let earlier = tokens.pending?.offer, now < earlier.expires,
      earlier.service.isSameText(as: choice.service),
      earlier.provider?.id == choice.provider?.id
    {
      let call = send(.readCode(earlier.code), to: choice.service, for: .login)
      phase = .registering(login, choice, Registering(call: call, earlier: earlier))
    } else {
      requestCode(login, choice)
    }
  }

  private mutating func requestCode(_ login: Login, _ choice: Choice) {
    let call = send(.createCode(provider: choice.provider?.id), to: choice.service, for: .login)
    phase = .registering(login, choice, Registering(call: call))
  }

  /// A fresh code because the app asked for one.
  mutating func renewCode(_ request: RequestID) {
    guard case .waiting(let login, let choice, let watch) = phase else {
      return fail(request, EntitlementError(.outOfOrder))
    }
    finish(request, .heard)
    drop(watch.call)
    drop(watch.timer)
    // The service withdraws the earlier code of a device by itself.
    requestCode(login, choice)
  }

  mutating func registered(
    _ answer: ServiceAnswer, _ login: Login, _ choice: Choice, _ step: Registering
  ) {
    switch answer {
    case .code(let record): codeCame(record, login, choice, step)
    case .failed(let failure):
      if let earlier = step.earlier { return earlierFailed(failure, earlier, login, choice) }
      loginFailed(login, failure, as: .noRegistrationCode)
    default: loginFailed(login, ServiceFailure(kind: .unreadable), as: .noRegistrationCode)
    }
  }

  private mutating func codeCame(
    _ record: CodeRecord, _ login: Login, _ choice: Choice, _ step: Registering
  ) {
    let offer = RegistrationOffer(record, choice)
    var watch = Watch(offer: offer, sequence: record.sequence)
    if step.earlier != nil {
      switch record.status {
      case .offered, .opened, .claimed: break
      case .approved, .delivered: return fetch(login, choice, watch)
      case .denied, .expired, .withdrawn: return requestCode(login, choice)
      }
    }
    if tokens.pending?.offer != offer { store(.pending(PendingCode(offer: offer))) }
    switch settings.login {
    case .browser(let redirectURL):
      phase = .browsing(login, choice, offer)
      tell(
        .navigateToUrl(
          loginURL(choice, offer, redirectURL: redirectURL),
          useSecureSheet: usesSecureSheet(choice.provider)))
    case .secondScreen:
      tellCode(watch)
      askFirst(&watch, choice)
      phase = .waiting(login, choice, watch)
      news(record)
    }
  }

  /// A code of an earlier run that the service does not take any more is replaced; nobody has seen it in this run.
  private mutating func earlierFailed(
    _ failure: ServiceFailure, _ earlier: RegistrationOffer, _ login: Login, _ choice: Choice
  ) {
    guard failure.isPassing, case .secondScreen = settings.login else {
      return requestCode(login, choice)
    }
    // The service is away for a moment; the code may well be what somebody is typing.
    var watch = Watch(offer: earlier, sequence: 0)
    tellCode(watch)
    watch.failures = 1
    tellTrouble(failure, &watch)
    watch.timer = startTimer(pause(after: watch, failure))
    phase = .waiting(login, choice, watch)
  }

  mutating func tellCode(_ watch: Watch) {
    let offer = watch.offer
    tell(
      .status(
        EntitlementStatus(
          .registrationCode, message: offer.code,
          extras: [
            "expires": String(offer.expires.milliseconds), "display": offer.display,
            "url": offer.url, "urlComplete": offer.urlComplete,
          ])))
    tell(.registrationCode(offer))
  }

  // MARK: Waiting

  mutating func watched(
    _ answer: ServiceAnswer, _ login: Login, _ choice: Choice, _ watch: Watch
  ) {
    var watch = watch
    watch.call = nil
    phase = .waiting(login, choice, watch)
    switch answer {
    case .code(let record): recordCame(record, login, choice, watch)
    // The answer to a question that is asked of services which say nothing about a code's state.
    case .authentication(let granted) where isEarlier(granted, choice, watch):
      watchFailed(Self.notYet, login, choice, watch)
    case .authentication(let granted): succeed(login, granted, from: choice.service)
    case .failed(let failure): watchFailed(failure, login, choice, watch)
    default: watchFailed(ServiceFailure(kind: .unreadable), login, choice, watch)
    }
  }

  private mutating func recordCame(
    _ record: CodeRecord, _ login: Login, _ choice: Choice, _ old: Watch
  ) {
    news(record)
    guard case .waiting(_, _, var watch) = phase else { return }
    let wasAway = watch.failures > 0
    if wasAway { tell(.connectionBack) }
    watch.failures = 0
    watch.trouble = nil
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
    if wasAway {
      // That answer was only to say that the service is there again.
      askForNews(&watch, choice)
    } else if record.wasHeld, isNews || now.since(watch.asked) >= .seconds(1) {
      askForNews(&watch, choice)
    } else if !record.wasHeld, record.status == .offered, record.sequence == 0 {
      // A service of another make: only the sign-in itself tells.
      watch.asksForSignIn = true
      watch.call = send(.authentication, to: choice.service, for: .login)
    } else {
      watch.timer = startTimer(settings.timing.poll)
    }
    phase = .waiting(login, choice, watch)
  }

  /// Tells what changed on the phone's side.
  private mutating func news(_ record: CodeRecord) {
    guard case .waiting(let login, let choice, var watch) = phase else { return }
    let isOpen = record.status == .opened || record.status == .claimed
    let wasOpen = watch.status == .opened || watch.status == .claimed
    let isNews = isOpen && (!wasOpen || record.match != watch.match)
    watch.status = record.status
    watch.match = record.match
    phase = .waiting(login, choice, watch)
    guard isNews else { return }
    if let match = record.match {
      tell(.numberMatch, message: String(match), extras: ["match": String(match)])
    } else {
      tell(.phoneConnected)
    }
    tell(.phoneConnected(match: record.match))
  }

  private mutating func watchFailed(
    _ failure: ServiceFailure, _ login: Login, _ choice: Choice, _ watch: Watch
  ) {
    switch failure.status {
    case 403 where failure.details == ErrorDetails.denied:
      end(login, .genericAuthentication, Self.denied)
    case 403, 404, 410, 412:
      if !watch.asksForSignIn {
        // The code is gone, perhaps because it was used: the sign-in tells.
        var watch = watch
        watch.isWithdrawn = failure.status == 404 && now < watch.offer.expires
        fetch(login, choice, watch)
      } else if watch.isNew {
        var watch = watch
        askForNews(&watch, choice)
        phase = .waiting(login, choice, watch)
      } else if now < watch.offer.expires {
        // "Not yet", as services of other makes say it.
        poll(login, choice, watch)
      } else {
        end(login, .genericAuthentication, Self.codeExpired)
      }
    default: retryLater(failure, login, choice, watch)
    }
  }

  mutating func fetchFailed(
    _ failure: ServiceFailure, _ login: Login, _ choice: Choice, _ watch: Watch
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

  /// The service is away, busy or behind a hotel's sign-in page: the code stays on the screen as long as it is good.
  private mutating func retryLater(
    _ failure: ServiceFailure, _ login: Login, _ choice: Choice, _ watch: Watch
  ) {
    guard failure.isPassing else {
      return loginFailed(login, failure, as: .authenticationFailed)
    }
    guard now < watch.offer.expires else {
      return end(login, .genericAuthentication, Self.codeExpired)
    }
    var watch = watch
    tellTrouble(failure, &watch)
    watch.failures += 1
    watch.call = nil
    watch.timer = startTimer(pause(after: watch, failure))
    phase = .waiting(login, choice, watch)
  }

  /// Says what is in the way when it was not said already.
  private mutating func tellTrouble(_ failure: ServiceFailure, _ watch: inout Watch) {
    let trouble: StatusID = failure.asksForPatience ? .serviceBusy : .connectionLost
    guard watch.trouble != trouble else { return }
    watch.trouble = trouble
    let seconds = failure.retryAfter.map { ["retryAfter": String($0.components.seconds)] }
    tell(trouble, message: failure.message, extras: seconds ?? [:])
  }

  /// Whether the service only repeats the sign-in that was there before: whoever signs in anew waits for another.
  func isEarlier(
    _ granted: GrantedAuthentication, _ choice: Choice, _ watch: Watch
  ) -> Bool {
    guard watch.status != .approved, watch.status != .delivered, let kept = validAuthentication
    else { return false }
    return kept.service.isSameText(as: choice.service) && kept.signIn.expires == granted.expires
      && kept.signIn.userID.isSameText(as: granted.userID)
      && kept.signIn.provider.id.isSameText(as: granted.provider)
  }

  /// As if the service had said that there is no sign-in.
  static let notYet = ServiceFailure(kind: .status(404))

  private mutating func poll(_ login: Login, _ choice: Choice, _ watch: Watch) {
    var watch = watch
    watch.timer = startTimer(settings.timing.poll)
    phase = .waiting(login, choice, watch)
  }

  mutating func timerRang(_ timer: TimerID) {
    guard case .waiting(let login, let choice, var watch) = phase, watch.timer == timer else {
      return
    }
    watch.timer = nil
    askForNews(&watch, choice)
    phase = .waiting(login, choice, watch)
  }

  /// A provider that is out of order may let everybody in: then the code need not be typed at all.
  private mutating func askFirst(_ watch: inout Watch, _ choice: Choice) {
    guard choice.provider != nil else { return askForNews(&watch, choice) }
    watch.isNew = true
    watch.asksForSignIn = true
    watch.call = send(.authentication, to: choice.service, for: .login)
    watch.asked = now
  }

  private mutating func askForNews(_ watch: inout Watch, _ choice: Choice) {
    watch.asksForSignIn = false
    watch.isNew = false
    // After a failure the answer is not to be held: the screen would say "no connection" for as long.
    watch.call = send(
      watch.failures > 0
        ? .readCode(watch.offer.code) : .awaitCode(watch.offer.code, after: watch.sequence),
      to: choice.service, for: .login)
    watch.asked = now
  }

  /// What the service wants, else twice as long after each failure; up to a limit, so that a sign-in that happens
  /// meanwhile is seen soon.
  private func pause(after watch: Watch, _ failure: ServiceFailure) -> Duration {
    let doubled = Duration.seconds(1 << min(watch.failures - 1, 16))
    let wanted = failure.retryAfter.map { max($0, .seconds(1)) }
    return min(wanted ?? doubled, settings.timing.longestPause)
  }

  static let codeExpired = EntitlementError(
    .codeExpired, status: .notAuthenticated, message: "the registration code is over")
  static let codeWithdrawn = EntitlementError(
    .codeWithdrawn, status: .notAuthenticated, message: "another one may have taken its place")

  // MARK: The browser

  private func usesSecureSheet(_ provider: MVPD?) -> Bool {
    options.handlesSecureSheet && provider?.wantsSecureSheet == true
  }

  private func loginURL(
    _ choice: Choice, _ offer: RegistrationOffer, redirectURL: String
  ) -> String {
    // The code comes first ("&reg" is a character in HTML) and the redirect URL last, as documented.
    let fields: [(name: String, value: String)] = [
      (Field.regcode, offer.code), (Field.requestorID, requestor),
      (Field.providerID, choice.provider?.id ?? ""), (Field.domainName, choice.domain ?? ""),
      (Field.noFlash, "true"), (Field.noFrame, "true"), (Field.redirectURL, redirectURL),
    ]
    return choice.service + Paths.authenticate + "?"
      + PercentEncoding.form(fields.filter { !$0.value.isEmpty })
  }

  mutating func handleExternalURL(_ url: String, _ request: RequestID) {
    switch phase {
    case .browsing(let login, let choice, _):
      finish(request, .heard)
      if url.refusesAccess { return end(login, .genericAuthentication, Self.denied) }
      fetch(login, choice, nil)
    case .leaving(let requests):
      finish(request, .heard)
      phase = .ready
      for request in requests { tellSignedOut(request) }
    case .ready where !responders.isEmpty:
      // A browser that was started by an earlier run of the app.
      let service = tokens.pending?.offer.service ?? responders[0].service
      fetch(
        Login(waiters: [.authentication(request)]),
        Choice(provider: nil, service: service, domain: nil), nil)
    default: fail(request, EntitlementError(.outOfOrder))
    }
  }
}

extension RegistrationOffer {
  init(_ record: CodeRecord, _ choice: Choice) {
    // Other makes have other codes: those are shown as they are.
    let ours = try? RegistrationCode(typed: record.code)
    self.init(
      code: record.code, display: ours?.display ?? record.code, url: record.url,
      urlComplete: record.urlComplete, expires: record.expires, provider: choice.provider,
      service: choice.service)
  }
}

extension String {
  /// Whether a redirect URL says that the viewer or the provider said no: `?error=access_denied`.
  fileprivate var refusesAccess: Bool {
    guard let question = firstIndex(of: "?") else { return false }
    return self[question...].dropFirst().split(separator: "&").contains { $0.hasPrefix("error=") }
  }
}
