import RegentHTTPCodec
import RegentPairing
import RegentPairingWire

// Signing out, cancelling calls, and starting again.

extension EnablerStateMachine {
  // MARK: Signing out

  mutating func logout(_ request: RequestID) {
    let kept = tokens.authentication
    leaveEverything(EntitlementError(.notAuthenticated))
    isAccountDisabled = false
    if let pending = tokens.pending {
      // Delete the code at the service. The response does not matter.
      _ = send(.deleteCode(pending.offer.code), to: pending.offer.service, for: .nothing)
    }
    // Sign out in the local store first, so that it succeeds even without a network.
    store(.signedOut)
    if kept?.signIn.source == .platform {
      tell(
        .signOutInSettings,
        extras: ["signOut": "regent sso sign-out", "deny": "regent sso deny APP --for \(requestor)"], request)
    }
    selection = .usual
    forgetPreauthorization()
    denials = DenialLog()
    // This device has stored no sign-in, but a service may still have one for it, so tell all services.
    let services = kept.map { [$0.service] } ?? responders.map(\.service)
    var open: Set<CallID> = []
    for service in services {
      if kept != nil { store(.unfinishedLogout(service: service, isOpen: true)) }
      open.insert(send(.logout, to: service, for: .logout(service: service, requestor: requestor)))
    }
    var browser: LogoutPage?
    if let kept, let redirectURL = redirectURL(for: kept.signIn.provider) {
      browser = LogoutPage(service: kept.service, redirectURL: redirectURL, provider: kept.signIn.provider)
    }
    let deadline = startDeadline(settings.timing.logout)
    phase = .signingOut(SigningOut(requests: [request], open: open, browser: browser, deadline: deadline))
    endSigningOutIfDone()
  }

  /// Stops waiting for services that do not answer the sign-out.
  ///
  /// Their requests continue; a failed sign-out is repeated at the next start.
  mutating func signingOutDeadlinePassed(_ timer: TimerID) -> Bool {
    guard case .signingOut(var leaving) = phase, leaving.deadline == timer else { return false }
    leaving.open = []
    phase = .signingOut(leaving)
    endSigningOutIfDone()
    return true
  }

  mutating func logoutCame(
    _ answer: ServiceAnswer, from service: String, of whose: String, _ id: CallID
  ) {
    // If `setRequestor` has named another requestor meanwhile, the store in memory has the tokens of that requestor.
    if Self.isSignedOut(answer), whose.isSameText(as: requestor),
      tokens.unfinishedLogouts.contains(where: { $0.isSameText(as: service) })
    {
      store(.unfinishedLogout(service: service, isOpen: false))
    }
    guard case .signingOut(var leaving) = phase else { return }
    leaving.open.remove(id)
    if case .signedOut(let ticket) = answer, leaving.browser?.service.isSameText(as: service) == true {
      leaving.browser?.ticket = ticket
    }
    phase = .signingOut(leaving)
    endSigningOutIfDone()
  }

  /// Whether the service has signed this device out.
  ///
  /// An answer that the service has no sign-in for this device counts too.
  static func isSignedOut(_ answer: ServiceAnswer) -> Bool {
    guard case .failed(let failure) = answer else { return true }
    return [403, 404, 410, 412].contains(failure.status)
  }

  private mutating func endSigningOutIfDone() {
    guard case .signingOut(let leaving) = phase, leaving.open.isEmpty else { return }
    drop(leaving.deadline)
    if let browser = leaving.browser {
      phase = .leaving(leaving.requests)
      navigate(to: logoutURL(browser), for: browser.provider)
    } else {
      phase = .ready
      for request in leaving.requests { tellSignedOut(request) }
    }
    runQueue()
  }

  private func logoutURL(_ page: LogoutPage) -> String {
    // The redirect URL is the last field, as in the URL of the login page.
    let fields: [(name: String, value: String)] = [
      (Field.requestorID, requestor), (Field.logoutTicket, page.ticket ?? ""), (Field.redirectURL, page.redirectURL),
    ]
    return page.service + Paths.browserLogout + "?" + PercentEncoding.form(fields.filter { !$0.value.isEmpty })
  }

  mutating func tellSignedOut(_ request: RequestID) {
    tell(.setAuthenticationStatus(.notAuthenticated, .userNotAuthenticated), request)
    finish(request, .signedOut)
  }

  // MARK: Cancelling calls

  /// Cancels a call.
  ///
  /// No further events are reported for it.
  mutating func cancel(_ request: RequestID) {
    queue.removeAll { $0.request == request }
    if let pendingCall = pendingCalls.removeValue(forKey: request) {
      if case .preauthorizing(let work) = pendingCall { drop(work.timer) }
      for (call, purpose) in calls where purpose == .pendingCall(request) { drop(call) }
    }
    switch phase {
    case .configuring(var configuring):
      configuring.requests.removeAll { $0 == request }
      phase = .configuring(configuring)
    case .synchronizing(var synchronizing):
      synchronizing.requests.removeAll { $0 == request }
      phase = .synchronizing(synchronizing)
    case .joining(var joining):
      joining.requests.removeAll { $0 == request }
      phase = .joining(joining)
    case .signingOut(var leaving):
      leaving.requests.removeAll { $0 == request }
      phase = .signingOut(leaving)
    case .leaving(let requests): phase = .leaving(requests.filter { $0 != request })
    case .choosing, .entering, .registering, .waiting, .browsing, .fetching, .attaching, .presenting, .sharing:
      guard var login = phase.login, login.waiters.contains(where: { $0.request == request })
      else { return }
      login.waiters.removeAll { $0.request == request }
      if login.waiters.isEmpty {
        setLogin(login)
        leaveStep()
        phase = .ready
      } else {
        setLogin(login)
      }
    case .unconfigured, .ready: break
    }
  }

  /// Stops the current step of the sign-in, and deletes its registration code at the service.
  mutating func leaveStep() {
    stopStep()
    giveBackCode()
  }

  mutating func stopStep() {
    switch phase {
    case .entering(_, _, let call): drop(call)
    case .registering(_, _, let step): drop(step.call)
    case .waiting(_, _, let watch):
      drop(watch)
    case .fetching(_, _, let step): drop(step.call)
    case .attaching(_, let attaching): drop(attaching.call)
    case .presenting(_, let presented): dismiss(presented)
    case .sharing(_, let code):
      drop(code.call)
      _ = ask(.leave(signIn: code.signIn), for: .nothing)
    case .unconfigured, .configuring, .synchronizing, .joining, .ready, .choosing, .browsing, .signingOut,
      .leaving:
      break
    }
  }

  mutating func giveBackCode() {
    guard let pending = tokens.pending else { return }
    store(.pendingOver(pending.offer.code))
    _ = send(.deleteCode(pending.offer.code), to: pending.offer.service, for: .nothing)
  }

  /// Ends the configuration, sign-in or sign-out that is running, and finishes each waiting call with the error.
  mutating func leaveEverything(_ error: EntitlementError) {
    dropEarly()
    switch phase {
    case .configuring(let configuring):
      drop(configuring.patience.timer)
      for call in configuring.open.sorted(by: { $0.number < $1.number }) { drop(call) }
      finishConfiguring(configuring.requests, error)
    case .synchronizing(let synchronizing):
      drop(synchronizing.patience.timer)
      for call in synchronizing.open.sorted(by: { $0.number < $1.number }) { drop(call) }
      finishConfiguring(synchronizing.requests, error)
    case .joining(let joining):
      drop(joining.call)
      drop(joining.ahead?.call)
      finishConfiguring(joining.requests, error)
    case .choosing, .entering, .registering, .waiting, .browsing, .fetching, .attaching, .presenting, .sharing:
      if let login = phase.login {
        leaveStep()
        end(login, .providerNotSelected, EntitlementError(.cancelled))
      }
    case .signingOut(let leaving):
      drop(leaving.deadline)
      // The logout requests to the services continue, because the service must receive them.
      for request in leaving.requests { tellSignedOut(request) }
    case .leaving(let requests): for request in requests { tellSignedOut(request) }
    case .unconfigured, .ready: break
    }
    phase = .ready
    for (request, pendingCall) in pendingCalls.sorted(by: { $0.key.number < $1.key.number }) {
      for (call, purpose) in calls where purpose == .pendingCall(request) { drop(call) }
      pendingCalls[request] = nil
      giveUp(pendingCall, error, request)
    }
  }

  private mutating func finishConfiguring(_ requests: [RequestID], _ error: EntitlementError) {
    for request in requests {
      tell(.setRequestorComplete(.error), request)
      fail(request, error)
    }
  }

  private mutating func giveUp(
    _ pendingCall: PendingCall, _ error: EntitlementError, _ request: RequestID
  ) {
    switch pendingCall {
    case .authorizing(let work):
      tellNoToken(work.resource, .userNotAuthenticated, error, request)
    case .preauthorizing(let work):
      drop(work.timer)
      tell(.preauthorizedResources([]), request)
      fail(request, error)
    case .checking: tellNotSignedIn(.userNotAuthenticated, error, request)
    case .metadata(let key, let arguments):
      let empty = Metadata(value: nil)
      tell(.setMetadataStatus(empty, key: key.name, arguments: arguments), request)
      fail(request, error)
    }
  }
}
