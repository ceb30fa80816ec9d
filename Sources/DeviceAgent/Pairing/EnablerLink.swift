import AccessEnabler
import CommandKit
import RegentHTTPClient
import RegentHTTPCodec
import RegentPairing
import RegentPlatform

/// A sign-in with the SDK.
///
/// Retries while a problem of the network, the service or the clock prevents the sign-in.
final class EnablerLink: PairLink {
  private let enabler: AccessEnabler
  private let recovery: Recovery
  private let requestor: String
  /// The service's address, and the check of the addresses that it sends; both change if the service was found again.
  private let place: Locked<(service: AbsoluteURL?, check: AddressCheck)>
  private let finder: ServiceFinder?
  private let publicHost: HostName?
  private let isForced: Bool
  private let data: [String: String]
  private let work = LinkWork()
  /// The running sign-in.
  ///
  /// Its value says whether it succeeded.
  private let signingIn = Locked<Task<Bool, Never>?>(nil)
  /// The provider choice for which a code was requested, until the service has answered.
  private let asking = Locked<ProviderChoice?>(nil)

  /// Creates a sign-in with the SDK and these settings.
  ///
  /// If the sign-in is forced, the box signs in again even if it is signed in.
  init(
    _ enabler: AccessEnabler, _ settings: AgentSettings, _ order: PairOrder, _ recovery: Recovery
  ) throws(CommandError) {
    self.enabler = enabler
    self.recovery = recovery
    requestor = try settings.neededRequestor()
    place = Locked((settings.currentServices.first, settings.addressCheck))
    finder = ServiceFinder(settings)
    publicHost = settings.publicHost
    isForced = order.isForced
    data = order.data
  }

  func requestCode(provider: String?) { work.requestCode(provider: provider) }

  func events() -> AsyncStream<LinkEvent> { work.events(of: serve) }

  func withdraw() async {
    work.cancel()
    // The SDK processes its calls in order, so this call returns after the cancellation. The pause gives the SDK time
    // to withdraw the code at the service.
    _ = await enabler.currentSignIn()
    try? await Task.sleep(for: .milliseconds(300))
  }

  /// Fetches the provider list, with retries until the service answers.
  ///
  /// - Returns: false if the box is signed in already, or if retrying cannot help.
  private func configure(_ sink: AsyncStream<LinkEvent>.Continuation) async -> Bool {
    var backoff = Backoff()
    var found: AbsoluteURL?
    while !Task.isCancelled {
      do throws(EntitlementError) {
        let providers = try await enabler.configure(requestor: requestor, services: found.map { [$0.description] })
        let last = await enabler.selectedProvider()
        sink.yield(.recovered)
        await tellDisabledAccount(sink)
        sink.yield(
          .providers(
            providers.map {
              ProviderEntry(id: $0.id, name: $0.displayName, isFeatured: $0.isFeatured)
            }, last: last?.id))
        return true
      } catch {
        let failure = AgentFailure(error, host: host)
        guard error.isWorthWaiting else {
          sink.yield(.failed(failure))
          return false
        }
        // If the stored state says that the box is signed in, no request to the service is needed.
        if await tellSignedIn(sink) { return false }
        sink.yield(.trouble(failure))
        if let moved = await foundAgain(after: error) {
          found = moved
        } else {
          await pause(&backoff, error)
        }
      }
    }
    return false
  }

  private func tellDisabledAccount(_ sink: AsyncStream<LinkEvent>.Continuation) async {
    do throws(EntitlementError) {
      _ = try await enabler.requireSignIn()
    } catch {
      if error.kind == .accountDisabled { sink.yield(.trouble(AgentFailure(error, host: host))) }
    }
  }

  /// The service's other address, if it does not answer at the known one.
  private func foundAgain(after error: EntitlementError) async -> AbsoluteURL? {
    guard error.kind == .unreachable, let finder, let current = place.withLock({ $0.service }),
      let moved = await finder.find(insteadOf: current)
    else { return nil }
    let check = AddressCheck(services: [moved], publicHost: publicHost)
    place.withLock { $0 = (moved, check) }
    return moved
  }

  private var host: String { place.withLock { $0.service }.map { "\($0.host)" } ?? "" }

  private func pause(_ backoff: inout Backoff, _ error: EntitlementError) async {
    let span = backoff.next(asked: error.retryAfter)
    guard error.retryAfter == nil else {
      // If the service asked for a pause, a change of the network does not shorten it.
      try? await Task.sleep(for: span)
      return
    }
    await recovery.pause(span)
  }

  /// Reports that the box is signed in, unless the sign-in is forced.
  private func tellSignedIn(_ sink: AsyncStream<LinkEvent>.Continuation) async -> Bool {
    guard !isForced, let signIn = await enabler.currentSignIn() else { return false }
    sink.yield(
      .alreadySignedIn(
        name: signIn.shownName, provider: signIn.provider.displayName, id: signIn.provider.id))
    return true
  }

  /// Runs one sign-in at a time.
  ///
  /// Each request for a code starts one.
  private func serve(_ sink: AsyncStream<LinkEvent>.Continuation) async {
    // A sign-in runs in a task of its own, which a cancellation of this task does not reach. So the handler cancels it.
    await withTaskCancellationHandler {
      await serveCodeRequests(sink)
    } onCancel: {
      signingIn.withLock { $0 }?.cancel()
    }
  }

  private func serveCodeRequests(_ sink: AsyncStream<LinkEvent>.Continuation) async {
    var isConfigured = false
    for await provider in work.codeRequests {
      if !isConfigured { isConfigured = await configure(sink) }
      // The viewer may have fixed the problem before asking again, so the next request fetches the provider list first.
      guard isConfigured else { continue }
      // A repeated request for the same provider while a code is shown means that a new code is wanted.
      let choice = provider.map { ProviderChoice.provider($0) } ?? .onSecondScreen
      // Do not send a second request for a code while the first is running. The two could reach the service in either
      // order, and each new code withdraws the one before. The response to the first request serves both.
      if asking.withLock({ $0 == choice }) { continue }
      let running = signingIn.withLock { $0 }
      if running == nil, await tellSignedIn(sink) { continue }
      running?.cancel()
      // If the running sign-in succeeded meanwhile, no further code is needed.
      if await running?.value == true { continue }
      if Task.isCancelled { return }
      signingIn.withLock { $0 = Task { await self.signIn(choice, sink) } }
    }
  }

  private func signIn(
    _ choice: ProviderChoice, _ sink: AsyncStream<LinkEvent>.Continuation
  ) async -> Bool {
    var backoff = Backoff()
    while !Task.isCancelled {
      do throws(EntitlementError) {
        let signIn = try await ask(choice, sink)
        sink.yield(
          .authenticated(name: signIn.shownName, provider: signIn.provider.displayName))
        return true
      } catch {
        if Task.isCancelled { return false }
        switch error.kind {
        case .cancelled: return false
        case .denied: sink.yield(.denied)
        case .codeExpired: sink.yield(.expired)
        case .codeWithdrawn: sink.yield(.withdrawn)
        default:
          let failure = AgentFailure(error, host: host)
          guard error.isWorthWaiting else {
            sink.yield(.failed(failure))
            return false
          }
          sink.yield(.trouble(failure))
          if let moved = await foundAgain(after: error) {
            _ = try? await enabler.configure(requestor: requestor, services: [moved.description])
          } else {
            await pause(&backoff, error)
          }
          continue
        }
        return false
      }
    }
    return false
  }

  private func ask(
    _ choice: ProviderChoice, _ sink: AsyncStream<LinkEvent>.Continuation
  ) async throws(EntitlementError) -> SignIn {
    asking.withLock { $0 = choice }
    defer { asking.withLock { $0 = nil } }
    return try await enabler.authenticate(choice, isForced: isForced, data: data) { event in
      if case .registrationCode = event { self.asking.withLock { $0 = nil } }
      self.report(event, sink)
    }
  }

  private func report(_ event: EntitlementEvent, _ sink: AsyncStream<LinkEvent>.Continuation) {
    switch event {
    case .registrationCode(let offer): sink.yield(shown(offer))
    case .phoneConnected(let match):
      sink.yield(.opened)
      if let match { sink.yield(.match(match)) }
    case .status(let status) where status.id == .connectionLost:
      let error = EntitlementError(status)
      sink.yield(.trouble(AgentFailure(error, host: host)))
    case .status(let status) where status.id == .serviceBusy:
      let seconds = status.extras["retryAfter"].flatMap { Int64($0) }
      let asked = seconds.map { EntitlementError.patience($0) + "; " } ?? ""
      sink.yield(
        .trouble(
          AgentFailure(
            code: "busy", message: "the service is busy", hint: asked + "the code stays valid",
            trouble: .busy(seconds: seconds))))
    case .status(let status) where status.id == .connectionBack: sink.yield(.recovered)
    case .status(let status) where status.id == .internalError:
      let hint = status.extras["details"].flatMap { $0.isEmpty ? nil : $0 }
      sink.yield(
        .trouble(
          AgentFailure(
            code: "storage", message: status.message, hint: hint, trouble: .storage)))
    default: break
    }
  }

  private func shown(_ offer: RegistrationOffer) -> LinkEvent {
    let check = place.withLock { $0.check }
    guard let url = check.drawable(offer.url), check.drawable(offer.urlComplete) != nil else {
      return .failed(
        AgentFailure(
          code: "foreign-address",
          message: "the service named an address on another host, which is not shown",
          hint: "if phones use another host than this box, add --public-host HOST",
          trouble: .foreignAddress))
    }
    let remaining = Self.remaining(offer.expires.milliseconds, now: enabler.time(of: offer.service).milliseconds)
    let boot = Int64(Clocks.bootNanoseconds() / 1_000_000)
    return .code(
      ShownCode(
        code: offer.code, display: offer.display, address: AddressCheck.words(url),
        link: offer.urlComplete, expires: offer.expires.milliseconds, deadline: boot + remaining,
        lifetime: remaining))
  }

  /// How long a registration code is valid from now on, in milliseconds.
  ///
  /// Implausible values are replaced by half an hour.
  ///
  /// The expiry is a time of the service's clock, and the service's response contains that clock's time. A stored code
  /// that is shown before the service has answered can only be compared with the box's clock, which may be years off.
  /// The service then reports when the code really expires.
  static func remaining(_ expires: Int64, now: Int64) -> Int64 {
    let remaining = Instant(milliseconds: expires).since(Instant(milliseconds: now))
      .wholeMilliseconds
    let longest: Int64 = 36_000_000
    return (1_000...longest).contains(remaining) ? remaining : 1_800_000
  }
}

extension SignIn {
  /// The viewer's name if the user id looks like a name.
  ///
  /// Many providers use an opaque id, which is not shown.
  fileprivate var shownName: String? {
    guard source == .regular, userID.utf8.count <= 32, !userID.isEmpty else { return nil }
    let isNumber = userID.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2d }
    return isNumber ? nil : userID
  }
}

extension EntitlementError {
  /// Converts a status of the SDK to the reason why the service cannot be polled for a code that is on the screen.
  fileprivate init(_ status: EntitlementStatus) {
    let word = status.extras["fault"]
    let fault = word.flatMap(ClientError.TLSFault.init)
    let kind: Kind =
      switch fault {
      case .clockAhead, .clockBehind: .clockWrong
      case .some: .unsafeConnection
      case nil: word == "captivePortal" ? .captivePortal : .unreachable
      }
    self.init(kind, message: status.message)
    self.fault = fault
  }
}
