import RegentPairing
import RegentPairingWire

// setRequestor: asks all services for their providers, then whether this device is still signed in.

extension EnablerStateMachine {
  mutating func setRequestor(_ request: RequestID, _ details: SetRequestor) {
    let services = details.services.isEmpty ? settings.services : details.services
    let isSame =
      details.requestor.isSameText(as: requestor)
      && services.map { Array($0.utf8) } == self.services.map { Array($0.utf8) }
    forgetPreauthorization()
    switch phase {
    case .configuring(var configuring) where isSame:
      configuring.requests.append(request)
      phase = .configuring(configuring)
      return
    case .synchronizing(var synchronizing) where isSame:
      synchronizing.requests.append(request)
      phase = .synchronizing(synchronizing)
      return
    case .joining(var joining) where isSame:
      joining.requests.append(request)
      phase = .joining(joining)
      return
    case .choosing, .entering, .registering, .waiting, .browsing, .fetching, .attaching, .presenting, .sharing,
      .leaving:
      // The app may come to the foreground again while a viewer types the code. The code must stay valid.
      if isSame {
        tell(.setRequestorComplete(.success), request)
        finish(request, .configured(providers))
        return
      }
    default: break
    }
    if case .ready = phase, isSame {
      // Calls such as authorizations continue: an app may set its requestor each time it comes to the foreground.
      dropEarly()
    } else {
      leaveEverything(EntitlementError(.superseded))
    }
    if !details.requestor.isSameText(as: requestor) {
      selection = .usual
      isAccountDisabled = false
    }
    requestor = details.requestor
    self.services = services
    tokens = details.tokens
    responders = []
    configurationProblem = nil
    guard !services.isEmpty else {
      return configurationFailed([request], .unreachable, Self.noService)
    }
    var open: Set<CallID> = []
    for service in services {
      open.insert(send(.configuration, to: service, for: .configuration(service: service)))
    }
    phase = .configuring(Configuring(requests: [request], open: open))
    askEarly()
  }

  private static let noService = EntitlementError(
    .unreachable, message: "no service was named",
    hint: "name one in EnablerConfiguration.services, in setRequestor, in REGENT_SERVICE or in "
      + "/etc/regent/agent.conf (service = https://HOST); a file that others may write is not believed")

  mutating func configurationCame(
    _ answer: ServiceAnswer, from service: String, _ id: CallID
  ) {
    guard case .configuring(var configuring) = phase else { return }
    configuring.open.remove(id)
    switch answer {
    case .configuration(let configuration): add(configuration, of: service)
    case .failed(let failure): configuring.failures.append(failure)
    default: configuring.failures.append(ServiceFailure(kind: .unreadable))
    }
    wait(&configuring.patience, whileOpen: configuring.open)
    phase = .configuring(configuring)
    endConfigurationIfDone()
  }

  mutating func endConfigurationIfDone() {
    guard case .configuring(let configuring) = phase, configuring.open.isEmpty else { return }
    let patience = spent(configuring.patience)
    guard !responders.isEmpty else {
      let (status, error) = Self.configurationProblem(configuring.failures)
      return configurationFailed(configuring.requests, status, error)
    }
    for failure in configuring.failures {
      // The app can continue with the other services, but its developer should learn that this service failed.
      let (status, error) = Self.configurationProblem([failure])
      tell(.status(EntitlementStatus(status, .warning, message: error.message)))
    }
    synchronize(configuring.requests, patience)
  }

  /// Adds a service that answered, with its providers.
  ///
  /// A provider that a faster service has already listed stays with that service.
  private mutating func add(_ configuration: ServiceConfiguration, of service: String) {
    let known = providers
    let new = configuration.providers.filter { one in
      !known.contains { $0.id.isSameText(as: one.id) }
    }
    responders.append(
      Responder(
        service: service, providers: new, domains: configuration.domains,
        exposesDeviceID: configuration.exposesDeviceID))
  }

  private mutating func configurationFailed(
    _ requests: [RequestID], _ status: StatusID, _ error: EntitlementError
  ) {
    phase = .ready
    dropEarly()
    var error = error
    error.status = status
    configurationProblem = error
    tell(status, message: error.message)
    for request in requests {
      tell(.setRequestorComplete(.error), request)
      fail(request, error)
    }
    runQueue()
  }

  /// Chooses one error from the failures of several services.
  ///
  /// Errors that the app's developer can fix come before network errors.
  static func configurationProblem(
    _ failures: [ServiceFailure]
  ) -> (StatusID, EntitlementError) {
    func first(_ test: (ServiceFailure) -> Bool) -> ServiceFailure? { failures.first(where: test) }
    if let failure = first({ [400, 404].contains($0.status) }) {
      return (
        .unknownRequestor, EntitlementError(.unknownRequestor, message: failure.message)
      )
    }
    if let failure = first({ $0.kind == .registration }) {
      return (.registrationFailed, EntitlementError(.notTrusted, message: failure.message))
    }
    if let failure = first({ $0.status == 401 && $0.details == ErrorDetails.otherRequestor }) {
      return (
        .notTrusted,
        EntitlementError(
          .notTrusted, message: failure.details ?? "",
          hint: "use the requestor that owns the key pair; the service's operator can look it up: "
            + "regentctl key show PUBLIC-KEY")
      )
    }
    if let failure = first({ [401, 403].contains($0.status) }) {
      return (.notTrusted, EntitlementError(.notTrusted, message: failure.details ?? failure.message))
    }
    if let failure = first({ $0.kind == .accessToken }) {
      return (.accessTokenFailed, EntitlementError(.notTrusted, message: failure.message))
    }
    if let failure = first({ $0.kind == .clockWrong }) {
      return (.clockWrong, EntitlementError(.clockWrong, failure))
    }
    if let failure = first({ $0.kind == .unsafeConnection }) {
      return (.unsafeConnection, EntitlementError(.unsafeConnection, failure))
    }
    if let failure = first({ $0.kind == .captivePortal }) {
      return (
        .configurationFailed(500), EntitlementError(.captivePortal, message: failure.message)
      )
    }
    if let failure = first({ $0.status == 429 }) {
      var error = EntitlementError(.throttled, message: failure.message)
      error.retryAfter = failure.retryAfter
      return (.configurationThrottled, error)
    }
    if let failure = first({ $0.status != nil || $0.kind == .unreadable }) {
      return (
        .configurationFailed(failure.status ?? 500),
        EntitlementError(.service, message: failure.message)
      )
    }
    let failure = failures.first { $0.hint != nil } ?? failures.first
    return (
      .unreachable,
      EntitlementError(.unreachable, message: failure?.message ?? "", hint: failure?.hint)
    )
  }

  // MARK: Sign-ins and sign-outs that happened elsewhere

  /// Asks each service for its sign-in of this device, and repeats sign-outs that have not reached a service before.
  private mutating func synchronize(_ requests: [RequestID], _ patience: Patience) {
    var open: Set<CallID> = []
    // A sign-out that did not reach a service at an earlier address is repeated at the service's current address.
    let owesLogout = tokens.unfinishedLogouts.contains { !isConfigured($0) }
    for service in responders.map(\.service) {
      let isOpen = tokens.unfinishedLogouts.contains { $0.isSameText(as: service) }
      if isOpen || owesLogout {
        open.insert(send(.logout, to: service, for: .openLogout(service: service)))
      } else if isAbout(service) {
        open.insert(send(.authentication, to: service, for: .synchronization(service: service)))
      }
    }
    var patience = patience
    // With a single service, there is no other service for whose answer a limit is needed.
    if responders.count > 1, open.count == 1 { wait(&patience, whileOpen: open) }
    phase = .synchronizing(Synchronizing(requests: requests, open: open, patience: patience))
    requestEarly()
    endSynchronizationIfDone()
  }

  private func isConfigured(_ service: String) -> Bool {
    services.contains { $0.isSameText(as: service) }
  }

  /// Whether to ask this service for the device's sign-in.
  ///
  /// True if this service granted the stored sign-in, if no sign-in is stored, or if the service that granted it is no
  /// longer configured because its address changed.
  private func isAbout(_ service: String) -> Bool {
    guard let kept = tokens.authentication else { return true }
    return kept.service.isSameText(as: service) || !isConfigured(kept.service)
  }

  mutating func synchronizationCame(
    _ answer: ServiceAnswer, from service: String, _ id: CallID
  ) {
    switch answer {
    case .authentication(let granted):
      // Of several services, the first that has a sign-in for this device decides.
      if isAbout(service) {
        keep(repeated(granted, from: service), from: service)
        isAccountDisabled = false
      }
    case .failed(let failure):
      // `denied` and `expired` are about the code. They do not mean that the sign-in from before the code has ended.
      let isAboutCode = [ErrorDetails.denied, ErrorDetails.expired].contains(failure.details)
      let isGone =
        failure.meansNotSignedIn || ([403, 404, 410].contains(failure.status) && !isAboutCode)
      // If one service does not know this device, the enabler must still report that another service refuses the
      // device's account.
      if failure.meansAccountDisabled || (isGone && responders.count == 1) {
        isAccountDisabled = failure.meansAccountDisabled
      }
      // `isGone` means that this device was signed out elsewhere. Other failures of the service do not mean that.
      if isGone, let kept = tokens.authentication {
        if kept.service.isSameText(as: service) {
          store(.authentication(nil))
        } else if responders.count == 1 {
          dropSignInOfMovedService(kept)
        }
      }
    default: break
    }
    synchronized(id)
  }

  /// Deletes the sign-in of a service that is no longer configured, because the new service does not know it, and
  /// reports the end of the sign-in to the app.
  private mutating func dropSignInOfMovedService(_ kept: StoredAuthentication) {
    store(.authentication(nil))
    tell(
      .noSession,
      message: "this device was signed in at \(kept.service), which is not asked any more; "
        + "the service that is knows nothing of it: sign in again")
  }

  mutating func openLogoutCame(_ answer: ServiceAnswer, from service: String, _ id: CallID) {
    if Self.isSignedOut(answer) {
      store(.unfinishedLogout(service: service, isOpen: false))
      for other in tokens.unfinishedLogouts where !isConfigured(other) {
        store(.unfinishedLogout(service: other, isOpen: false))
      }
    }
    synchronized(id)
  }

  private mutating func synchronized(_ id: CallID) {
    guard case .synchronizing(var synchronizing) = phase else { return }
    synchronizing.open.remove(id)
    wait(&synchronizing.patience, whileOpen: synchronizing.open)
    phase = .synchronizing(synchronizing)
    endSynchronizationIfDone()
  }

  mutating func endSynchronizationIfDone() {
    guard case .synchronizing(let synchronizing) = phase, synchronizing.open.isEmpty else { return }
    drop(synchronizing.patience.timer)
    join(synchronizing.requests)
  }

  /// Keeps the source `.platform` (the box's shared account) when a service returns the sign-in that is already stored,
  /// because the response does not contain the source.
  private func repeated(_ granted: GrantedAuthentication, from service: String) -> GrantedAuthentication {
    guard let kept = tokens.authentication, kept.signIn.source == .platform, granted.source == .regular,
      kept.service.isSameText(as: service), kept.signIn.provider.id.isSameText(as: granted.provider),
      kept.signIn.userID.isSameText(as: granted.userID), kept.signIn.expires == granted.expires
    else { return granted }
    var granted = granted
    granted.source = .platform
    return granted
  }

  /// Stores a sign-in that a service granted.
  @discardableResult
  mutating func keep(_ granted: GrantedAuthentication, from service: String) -> SignIn {
    let provider =
      providers.first { $0.id.isSameText(as: granted.provider) }
      ?? MVPD(id: granted.provider, displayName: granted.provider)
    let source = provider.isTemporaryPass ? SignIn.Source.temporary : granted.source
    let signIn = SignIn(
      provider: provider, userID: granted.userID, expires: granted.expires, source: source)
    let new = StoredAuthentication(signIn: signIn, service: service)
    forgetPreauthorization()
    if tokens.authentication != new {
      selection = .usual
      store(.authentication(new))
    }
    if tokens.pending != nil { store(.pending(nil)) }
    return signIn
  }
}

extension EntitlementError {
  /// Creates an error with the message and TLS fault of a failed call.
  init(_ kind: Kind, status: StatusID? = nil, _ failure: ServiceFailure) {
    self.init(kind, status: status, message: failure.message)
    fault = failure.fault
  }
}
