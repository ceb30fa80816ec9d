import RegentPairing
import RegentPairingWire

// Signing in: the picker, the choice, and how each way goes on from there.

extension Machine {
  mutating func checkAuthentication(_ request: RequestID) {
    if let kept = validAuthentication {
      tellSignedIn(kept.signIn, request, isCached: true)
    } else {
      if let old = tokens.authentication, old.signIn.source == .temporary {
        tell(.temporaryPassExpired)
      }
      tellNotSignedIn(.userNotAuthenticated, EntitlementError(.notAuthenticated), request)
    }
  }

  mutating func getAuthentication(_ request: RequestID, _ wish: AuthenticationRequest) {
    if let kept = validAuthentication, !wish.isForced {
      return tellSignedIn(kept.signIn, request, isCached: true)
    }
    logIn(.authentication(request), wish)
  }

  /// Begins a sign-in, or joins the one under way.
  mutating func logIn(_ waiter: Login.Waiter, _ wish: AuthenticationRequest) {
    if case .leaving(let requests) = phase {
      // Whoever signs in again does not come back from the logout pages.
      phase = .ready
      for request in requests { tellSignedOut(request) }
    }
    guard var login = phase.login else {
      guard !responders.isEmpty else {
        let login = Login(waiters: [waiter])
        return end(
          login, .genericAuthentication,
          EntitlementError(.unreachable, status: .authenticationFailed))
      }
      return choose(Login(waiters: [waiter], data: wish.data, filter: wish.filter), wish.choice)
    }
    login.waiters.append(waiter)
    if !wish.data.isEmpty { login.data = wish.data }
    setLogin(login)
    switch phase {
    case .choosing: choose(login, wish.choice)
    // Whoever asks again has nothing on the screen any more.
    case .waiting(_, _, let watch): tellCode(watch)
    default: break
    }
  }

  private mutating func choose(_ login: Login, _ choice: ProviderChoice?) {
    phase = .choosing(login)
    if let choice {
      take(choice, login)
    } else {
      let shown = (login.filter ?? ProviderFilter()).apply(to: providers)
      // The provider of the last time comes first.
      let last = shown.filter { one in tokens.selected.map { $0.id.isSameText(as: one.id) } ?? false
      }
      let rest = shown.filter { one in !last.contains { $0.id.isSameText(as: one.id) } }
      tell(.displayProviderDialog(last + rest))
    }
  }

  /// `setSelectedProvider` with a provider, and its sister for the phone.
  mutating func select(_ choice: ProviderChoice, _ request: RequestID) {
    guard let login = phase.login else {
      tell(.noSession, message: "no sign-in waits for a provider")
      return tellNotSignedIn(
        .genericAuthentication, EntitlementError(.outOfOrder, status: .noSession), request)
    }
    finish(request, .heard)
    leaveStep()
    take(choice, login)
  }

  private mutating func take(_ choice: ProviderChoice, _ login: Login) {
    switch choice {
    case .onSecondScreen:
      guard let fastest = responders.first else { return }
      register(
        login,
        Choice(provider: nil, service: fastest.service, domain: fastest.domains.first))
    case .provider(let id):
      guard
        let responder = responders.first(where: { responder in
          responder.providers.contains { $0.id.isSameText(as: id) }
        }), let provider = responder.providers.first(where: { $0.id.isSameText(as: id) })
      else {
        phase = .ready
        return end(
          login, .genericAuthentication,
          EntitlementError(.unknownProvider(id), status: .authenticationFailed))
      }
      if tokens.selected != provider { store(.selected(provider)) }
      tell(.sendTrackingData([provider.id] + settings.tracked, .selectedProvider))
      let choice = Choice(
        provider: provider, service: responder.service, domain: responder.domains.first)
      if provider.isTemporaryPass { enter(login, choice) } else { register(login, choice) }
    }
  }

  /// A temporary pass lets the device in at once.
  private mutating func enter(_ login: Login, _ choice: Choice) {
    let call = send(
      .freePreview(
        provider: choice.provider?.id ?? "", domain: choice.domain, data: login.data),
      to: choice.service, for: .login)
    phase = .entering(login, choice, call)
  }

  /// `setSelectedProvider(nil)`: the viewer went back.
  mutating func goBack(_ request: RequestID) {
    finish(request, .heard)
    let error = EntitlementError(.cancelled)
    if let login = phase.login {
      leaveStep()
      end(login, .providerNotSelected, error)
    } else {
      store(.selected(nil))
      tell(.setAuthenticationStatus(.notAuthenticated, .providerNotSelected))
    }
  }

  // MARK: Answers

  mutating func loginAnswerCame(_ answer: ServiceAnswer, _ id: CallID) {
    switch phase {
    case .entering(let login, let choice, id): entered(answer, login, choice)
    case .registering(let login, let choice, let step) where step.call == id:
      registered(answer, login, choice, step)
    case .waiting(let login, let choice, let watch) where watch.call == id:
      watched(answer, login, choice, watch)
    case .fetching(let login, let choice, let step) where step.call == id:
      fetched(answer, login, choice, step)
    default: break
    }
  }

  private mutating func entered(_ answer: ServiceAnswer, _ login: Login, _ choice: Choice) {
    switch answer {
    case .done: fetch(login, choice, nil)
    case .authentication(let granted): succeed(login, granted, from: choice.service)
    case .failed(let failure):
      let isOver =
        failure.code?.isTemporaryPass ?? [403, 410].contains(failure.status)
      loginFailed(
        login, failure, as: isOver ? .temporaryPassExpired : .authenticationFailed)
    default: loginFailed(login, ServiceFailure(kind: .unreadable), as: .authenticationFailed)
    }
  }

  /// Fetches the sign-in that must be there now.
  mutating func fetch(_ login: Login, _ choice: Choice, _ watch: Watch?) {
    let call = send(.authentication, to: choice.service, for: .login)
    phase = .fetching(login, choice, Fetching(call: call, watch: watch))
  }

  private mutating func fetched(
    _ answer: ServiceAnswer, _ login: Login, _ choice: Choice, _ step: Fetching
  ) {
    switch answer {
    case .authentication(let granted):
      if let watch = step.watch, isEarlier(granted, choice, watch) {
        return fetchFailed(Self.notYet, login, choice, watch)
      }
      succeed(login, granted, from: choice.service)
    case .failed(let failure):
      if let watch = step.watch { return fetchFailed(failure, login, choice, watch) }
      if failure.status == 403, failure.details == ErrorDetails.denied {
        return end(login, .genericAuthentication, Self.denied)
      }
      loginFailed(login, failure, as: .authenticationFailed)
    default: loginFailed(login, ServiceFailure(kind: .unreadable), as: .authenticationFailed)
    }
  }

  mutating func succeed(_ login: Login, _ granted: GrantedAuthentication, from service: String) {
    let signIn = keep(granted, from: service)
    phase = .ready
    switch signIn.source {
    case .regular: break
    case .temporary: tell(.temporaryPass)
    case .degraded: tell(.degradedAuthentication)
    }
    var isTold = false
    for case .authentication(let request) in login.waiters {
      tellSignedIn(signIn, request, isCached: false)
      isTold = true
    }
    if !isTold {
      tell(.setAuthenticationStatus(.authenticated, .userAuthenticated))
      track(signIn, isCached: false)
    }
    for case .authorization(let request, let resource, let data) in login.waiters {
      authorize(resource, data: data, mayLogIn: false, request)
    }
  }

  static let denied = EntitlementError(
    .denied, status: .notAuthenticated, message: "denied on the phone")

  /// Ends a sign-in because a service said something that cannot be worked with.
  mutating func loginFailed(_ login: Login, _ failure: ServiceFailure, as status: StatusID) {
    var error: EntitlementError
    var status = status
    switch failure.kind {
    case .unreachable: error = EntitlementError(.unreachable)
    case .unsafeConnection:
      error = EntitlementError(.unsafeConnection)
      status = .unsafeConnection
    case .registration:
      error = EntitlementError(.notTrusted)
      status = .registrationFailed
    case .accessToken:
      error = EntitlementError(.notTrusted)
      status = .accessTokenFailed
    case .status(401):
      error = EntitlementError(.notTrusted)
      status = .notTrusted
    case .status(429): error = EntitlementError(.throttled)
    case .unreadable, .status:
      error = EntitlementError(status == .temporaryPassExpired ? .temporaryPassExpired : .service)
    }
    error.status = status
    error.message = failure.details ?? failure.message
    error.retryAfter = failure.retryAfter
    end(login, .genericAuthentication, error)
  }

  /// Ends a sign-in without one: every call that waits for it hears so, once.
  mutating func end(_ login: Login, _ code: EntitlementCode, _ error: EntitlementError) {
    phase = .ready
    if let status = error.status {
      tell(status, message: error.message, extras: Self.details(of: error))
    }
    if let pending = tokens.pending { store(.pendingOver(pending.offer.code)) }
    var isTold = false
    for case .authentication(let request) in login.waiters {
      tellNotSignedIn(code, error, request)
      isTold = true
    }
    if !isTold { tell(.setAuthenticationStatus(.notAuthenticated, code)) }
    for case .authorization(let request, let resource, _) in login.waiters {
      tellNoToken(resource, .userNotAuthenticated, error, request)
    }
  }

  private static func details(of error: EntitlementError) -> [String: String] {
    switch error.kind {
    case .denied: ["details": ErrorDetails.denied]
    case .codeExpired: ["details": ErrorDetails.expired]
    default: [:]
    }
  }

  // MARK: What the app hears

  private mutating func tellSignedIn(_ signIn: SignIn, _ request: RequestID, isCached: Bool) {
    tell(.setAuthenticationStatus(.authenticated, .userAuthenticated), request)
    track(signIn, isCached: isCached)
    finish(request, .signIn(signIn))
  }

  private mutating func tellNotSignedIn(
    _ code: EntitlementCode, _ error: EntitlementError, _ request: RequestID
  ) {
    tell(.setAuthenticationStatus(.notAuthenticated, code), request)
    let provider = tokens.selected?.id ?? ""
    tell(.sendTrackingData(["false", provider, "", "false"] + settings.tracked, .authentication))
    fail(request, error)
  }

  private mutating func track(_ signIn: SignIn, isCached: Bool) {
    tell(
      .sendTrackingData(
        ["true", signIn.provider.id, signIn.guid, isCached ? "true" : "false"] + settings.tracked,
        .authentication))
  }

  /// Puts a changed login back into the phase it belongs to.
  mutating func setLogin(_ login: Login) {
    switch phase {
    case .choosing: phase = .choosing(login)
    case .entering(_, let choice, let call): phase = .entering(login, choice, call)
    case .registering(_, let choice, let step): phase = .registering(login, choice, step)
    case .waiting(_, let choice, let watch): phase = .waiting(login, choice, watch)
    case .browsing(_, let choice, let offer): phase = .browsing(login, choice, offer)
    case .fetching(_, let choice, let step): phase = .fetching(login, choice, step)
    case .unconfigured, .configuring, .synchronizing, .ready, .signingOut, .leaving: break
    }
  }
}
