import RegentPairing
import RegentPairingWire

// Signing in: the picker, the choice, and the first step of each kind of sign-in.

extension EnablerStateMachine {
  mutating func checkAuthentication(_ request: RequestID) {
    guard !usesPlatform else { return checkWithPlatform(request) }
    if let kept = validAuthentication {
      tellSignedIn(kept.signIn, request, isCached: true)
    } else {
      tellNobodyIsIn(request)
    }
  }

  mutating func tellNobodyIsIn(_ request: RequestID) {
    if validAuthentication == nil, let old = tokens.authentication, old.signIn.source == .temporary {
      tell(.temporaryPassExpired)
    }
    tellNotSignedIn(.userNotAuthenticated, notSignedIn(), request)
  }

  mutating func getAuthentication(_ request: RequestID, _ details: AuthenticationRequest) {
    var details = details
    if let kept = validAuthentication, !details.isForced {
      details.isForced = isAnotherChosen(than: kept.signIn)
      if !details.isForced, !asksPlatform(about: kept.signIn) {
        return tellSignedIn(kept.signIn, request, isCached: true)
      }
    }
    logIn(.authentication(request), details)
  }

  /// Whether `setSelectedProvider` has chosen another provider than that of the sign-in, so that the app wants to
  /// change the provider.
  private func isAnotherChosen(than signIn: SignIn) -> Bool {
    guard case .ahead(.provider(let id)) = selection else { return false }
    return !signIn.provider.id.isSameText(as: id)
  }

  /// Whether the box's daemon must confirm the stored sign-in before it counts as valid.
  private func asksPlatform(about signIn: SignIn) -> Bool {
    usesPlatform && (signIn.source == .platform || !ownTerms.isIntegrated)
  }

  /// Starts a sign-in, or joins the running one.
  mutating func logIn(_ waiter: Login.Waiter, _ details: AuthenticationRequest) {
    if case .leaving(let requests) = phase {
      // If the app signs in again, the browser will not return from the logout page.
      phase = .ready
      for request in requests { tellSignedOut(request) }
    }
    guard var login = phase.login else {
      guard !responders.isEmpty else {
        return end(Login(waiters: [waiter]), .genericAuthentication, notConfigured)
      }
      var choice = details.choice
      if choice == nil, case .ahead(let chosen) = selection { choice = chosen }
      selection = .usual
      let login = Login(
        waiters: [waiter], data: details.data, filter: details.filter, isForced: details.isForced)
      // If a provider is already chosen, the picker for the box's shared account is not needed.
      return choice == nil && usesPlatform ? attach(login) : choose(login, choice)
    }
    login.waiters.append(waiter)
    if !details.data.isEmpty { login.data = details.data }
    login.filter = details.filter ?? login.filter
    setLogin(login)
    switch phase {
    case .attaching where details.choice != nil, .presenting where details.choice != nil,
      .sharing where details.choice != nil:
      // Choosing a provider ends the earlier steps of the sign-in, such as the picker for the box's shared account.
      leaveStep()
      choose(login, details.choice)
    case .presenting: presentAgain(login)
    case .sharing(_, let code): tellCode(code.offer)
    case .choosing: choose(login, details.choice)
    // The app has called again, so it may no longer show the code. Report the code again.
    case .waiting(_, _, let watch): tellCode(watch)
    default: break
    }
  }

  mutating func choose(_ login: Login, _ choice: ProviderChoice?) {
    phase = .choosing(login)
    if let choice {
      take(choice, login)
    } else {
      // The last provider comes first. The app's filter applies only to the picker for the box's shared account;
      // `displayProviderDialog` lists all providers.
      let isLast = { [tokens] (one: MVPD) in
        tokens.selected.map { $0.id.isSameText(as: one.id) } ?? false
      }
      tell(.displayProviderDialog(providers.filter(isLast) + providers.filter { !isLast($0) }))
    }
  }

  /// The error for a sign-in without a configured service, which is the error with which `setRequestor` failed.
  var notConfigured: EntitlementError {
    var error = configurationProblem ?? EntitlementError(.unreachable)
    if error.kind == .unreachable { error.status = .authenticationFailed }
    return error
  }

  /// Handles `setSelectedProvider` with a provider, and `selectProviderOnSecondScreen`.
  mutating func select(_ choice: ProviderChoice, _ request: RequestID) {
    guard let login = phase.login else { return selectAhead(choice, request) }
    finish(request, .heard)
    selection = .usual
    let resolved = resolve(choice)
    if let resolved, let current = phase.choice, resolved.isSame(as: current) {
      return showAgain()
    }
    stopStep()
    // Keep a code that an earlier run requested for the same provider. Delete a code for another provider at the
    // service.
    if resolved.flatMap({ earlierOffer(for: $0) }) == nil { giveBackCode() }
    take(choice, login)
  }

  /// The chosen provider with its service; nil if no service has the provider.
  private func resolve(_ choice: ProviderChoice) -> Choice? {
    switch choice {
    case .onSecondScreen:
      return responders.first.map {
        Choice(provider: nil, service: $0.service, domain: $0.domains.first)
      }
    case .provider(let id):
      for responder in responders {
        guard let provider = responder.providers.first(where: { $0.id.isSameText(as: id) }) else {
          continue
        }
        return Choice(
          provider: provider, service: responder.service, domain: responder.domains.first)
      }
      return nil
    }
  }

  private mutating func take(_ choice: ProviderChoice, _ login: Login) {
    guard let resolved = resolve(choice) else {
      return end(login, .genericAuthentication, Self.unknownProvider(choice))
    }
    remember(resolved)
    if resolved.provider?.isTemporaryPass == true {
      enter(login, resolved)
    } else {
      register(login, resolved)
    }
  }

  private static func unknownProvider(_ choice: ProviderChoice) -> EntitlementError {
    guard case .provider(let id) = choice else { return EntitlementError(.unreachable) }
    return EntitlementError(.unknownProvider(id), status: .authenticationFailed)
  }

  private mutating func remember(_ choice: Choice) {
    guard let provider = choice.provider else { return }
    if tokens.selected != provider { store(.selected(provider)) }
    tell(.sendTrackingData([provider.id] + settings.tracked, .selectedProvider))
  }

  /// Stores a choice of a provider while no sign-in is running.
  ///
  /// The next sign-in then needs no picker. If the provider is a temporary pass, the sign-in starts at once.
  private mutating func selectAhead(_ choice: ProviderChoice, _ request: RequestID) {
    guard let resolved = resolve(choice) else {
      let error = responders.isEmpty ? notConfigured : Self.unknownProvider(choice)
      if let status = error.status { tell(status, message: error.message) }
      // A viewer who is signed in stays signed in, whichever provider the app chooses for the next sign-in.
      guard validAuthentication == nil else { return fail(request, error) }
      return tellNotSignedIn(.genericAuthentication, error, request)
    }
    let entersAtOnce = resolved.provider.map { $0.isTemporaryPass && !$0.wantsIdentity } ?? false
    if entersAtOnce, validAuthentication == nil {
      return logIn(.authentication(request), AuthenticationRequest(choice: choice))
    }
    selection = .ahead(choice)
    remember(resolved)
    finish(request, .heard)
  }

  /// Reports the shown code or page again after the app has chosen the same provider again, because the app may no
  /// longer show it.
  private mutating func showAgain() {
    switch phase {
    case .waiting(_, _, let watch): tellCode(watch)
    case .browsing(_, let choice, let offer): tellLoginPage(choice, offer)
    default: break
    }
  }

  /// Signs in with a temporary pass, without a code.
  private mutating func enter(_ login: Login, _ choice: Choice) {
    if let provider = choice.provider, provider.wantsIdentity, login.data.isEmpty {
      return end(
        login, .genericAuthentication,
        EntitlementError(
          .dataNeeded(provider: provider.id), status: .authenticationFailed,
          hint: "give its data with getAuthentication, for example [\"email\": …]"))
    }
    let call = send(
      .freePreview(
        provider: choice.provider?.id ?? "", domain: choice.domain, data: login.data),
      to: choice.service, for: .login)
    phase = .entering(login, choice, call)
  }

  /// Handles `setSelectedProvider(nil)`: the viewer left the picker.
  mutating func goBack(_ request: RequestID) {
    finish(request, .heard)
    selection = .noProvider
    if let login = phase.login {
      var error = EntitlementError(.cancelled)
      switch phase {
      case .choosing, .presenting: error.status = .pickerCancelled
      default: break
      }
      leaveStep()
      end(login, .providerNotSelected, error)
    } else {
      store(.selected(nil))
      tell(.setAuthenticationStatus(.notAuthenticated, .providerNotSelected))
    }
  }

  // MARK: Responses during a sign-in

  mutating func loginAnswerCame(_ answer: ServiceAnswer, _ id: CallID) {
    switch phase {
    case .entering(let login, let choice, id): entered(answer, login, choice)
    case .registering(let login, let choice, let step) where step.call == id:
      registered(answer, login, choice, step)
    case .waiting(let login, let choice, let watch) where watch.call == id:
      watched(answer, login, choice, watch)
    case .fetching(let login, let choice, let step) where step.call == id:
      fetched(answer, login, choice, step)
    case .attaching(let login, let attaching) where attaching.call == id:
      attachingAnswered(answer, login, attaching)
    case .sharing(let login, let code) where code.call == id: boxNewsCame(answer, login, code)
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

  /// Fetches the sign-in, which must exist at the service by now.
  mutating func fetch(_ login: Login, _ choice: Choice, _ watch: CodeWatch?) {
    let call = send(.authentication, to: choice.service, for: .login, isWatched: watch != nil)
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
