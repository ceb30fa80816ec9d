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

  mutating func getAuthentication(_ request: RequestID, _ details: AuthenticationRequest) {
    if let kept = validAuthentication, !details.isForced {
      return tellSignedIn(kept.signIn, request, isCached: true)
    }
    logIn(.authentication(request), details)
  }

  /// Begins a sign-in, or joins the one under way.
  mutating func logIn(_ waiter: Login.Waiter, _ details: AuthenticationRequest) {
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
      return choose(Login(waiters: [waiter], data: details.data, filter: details.filter), details.choice)
    }
    login.waiters.append(waiter)
    if !details.data.isEmpty { login.data = details.data }
    setLogin(login)
    switch phase {
    case .choosing: choose(login, details.choice)
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
  mutating func fetch(_ login: Login, _ choice: Choice, _ watch: CodeWatch?) {
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
}
