import RegentHTTPCodec
import RegentPairing
import RegentPairingWire

// Signing in on a phone: request a code, show it, and wait. Signing in with a browser on this device needs a code
// too.

extension EnablerStateMachine {
  /// Continues with the code that was requested before for the same provider; requests a new code if there is none.
  mutating func register(_ login: Login, _ choice: Choice) {
    if let earlier = earlierOffer(for: choice) {
      let call = send(.readCode(earlier.code), to: choice.service, for: .login)
      phase = .registering(login, choice, Registering(call: call, earlier: earlier))
    } else {
      requestCode(login, choice)
    }
  }

  /// The code that this device requested before for the same provider, and that a viewer may be typing.
  ///
  /// Nil if there is none or it has expired.
  func earlierOffer(for choice: Choice) -> RegistrationOffer? {
    guard let earlier = tokens.pending?.offer, now < earlier.expires else { return nil }
    let its = Choice(provider: earlier.provider, service: earlier.service, domain: nil)
    return its.isSame(as: choice) ? earlier : nil
  }

  private mutating func requestCode(_ login: Login, _ choice: Choice) {
    let call = send(
      .createCode(provider: choice.provider?.id, data: login.data, inPlaceOf: tokens.pending?.offer.code),
      to: choice.service, for: .login)
    phase = .registering(login, choice, Registering(call: call))
  }

  /// Requests a new code because the app asked for it.
  mutating func renewCode(_ request: RequestID) {
    guard case .waiting(let login, let choice, let watch) = phase else {
      return fail(request, EntitlementError(.outOfOrder))
    }
    finish(request, .heard)
    drop(watch)
    // With the request for a new code, the service withdraws the earlier code of this device.
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
    var watch = CodeWatch(offer: offer, sequence: record.sequence)
    if step.earlier != nil {
      switch record.status {
      case .offered, .opened, .claimed: break
      case .approved, .delivered: return fetch(login, choice, watch)
      case .denied, .expired, .withdrawn: return requestCode(login, choice)
      }
    }
    if tokens.pending?.offer != offer { store(.pending(PendingCode(offer: offer))) }
    switch settings.login {
    case .browser:
      phase = .browsing(login, choice, offer)
      tellLoginPage(choice, offer)
    case .secondScreen:
      tellCode(watch)
      askFirst(&watch, choice)
      phase = .waiting(login, choice, watch)
      news(record)
    }
  }

  /// Requests a new code, because the service no longer accepts the code of an earlier run, which has not been shown in
  /// this run.
  ///
  /// If the failure is temporary, the earlier code is shown nevertheless.
  private mutating func earlierFailed(
    _ failure: ServiceFailure, _ earlier: RegistrationOffer, _ login: Login, _ choice: Choice
  ) {
    guard failure.isPassing, case .secondScreen = settings.login else {
      return requestCode(login, choice)
    }
    // The service is temporarily unavailable. The earlier code is still shown, because a viewer may be typing it.
    var watch = CodeWatch(offer: earlier, sequence: 0)
    tellCode(watch)
    watch.failures = 1
    tellTrouble(failure, &watch)
    watch.timer = startTimer(pause(after: watch, failure))
    phase = .waiting(login, choice, watch)
  }

  mutating func tellCode(_ watch: CodeWatch) { tellCode(watch.offer) }

  mutating func tellCode(_ offer: RegistrationOffer) {
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

  // MARK: Signing in with a browser

  mutating func tellLoginPage(_ choice: Choice, _ offer: RegistrationOffer) {
    guard let redirectURL = redirectURL(for: choice.provider) else { return }
    navigate(to: loginURL(choice, offer, redirectURL: redirectURL), for: choice.provider)
  }

  /// The URL to which the browser returns; nil for an app whose viewers sign in on a phone.
  func redirectURL(for provider: MVPD?) -> String? {
    guard case .browser(let page) = settings.login else { return nil }
    let isSheet = provider?.wantsSecureSheet == true && (options.handlesSecureSheet || settings.opensBrowser)
    return isSheet ? settings.sheetRedirectURL ?? page : page
  }

  /// Opens a page of a service in a browser.
  ///
  /// The app loads most pages in its own browser. But a provider may require a browser sheet that the app cannot read.
  /// The app shows the sheet if its option `handleSVC` is set; otherwise the configured browser program opens the page.
  /// If no program is configured either, the app loads the page in its own browser.
  mutating func navigate(to url: String, for provider: MVPD?) {
    let wantsSheet = provider?.wantsSecureSheet == true
    if wantsSheet, !options.handlesSecureSheet, settings.opensBrowser { return show(inNamedBrowser: url) }
    tell(.navigateToUrl(url, useSecureSheet: wantsSheet && options.handlesSecureSheet))
  }

  private func loginURL(
    _ choice: Choice, _ offer: RegistrationOffer, redirectURL: String
  ) -> String {
    // The code is the first field, because `&reg` would be read as a character reference in HTML. The redirect URL is
    // the last field, as documented.
    let fields: [(name: String, value: String)] = [
      (Field.regcode, offer.code), (Field.requestorID, requestor),
      (Field.providerID, choice.provider?.id ?? ""), (Field.domainName, choice.domain ?? ""),
      (Field.noFlash, "true"), (Field.noFrame, "true"), (Field.redirectURL, redirectURL),
    ]
    return choice.service + Paths.authenticate + "?"
      + PercentEncoding.form(fields.filter { !$0.value.isEmpty })
  }

  /// Continues after the browser has returned.
  ///
  /// A URL that is not a redirect URL of this app is refused, because any program could have sent it.
  mutating func handleExternalURL(_ url: String, _ request: RequestID) {
    guard case .browser(let page) = settings.login,
      url.isEmpty || [page, settings.sheetRedirectURL ?? page].contains(where: url.comesBack)
    else {
      let why = "this is not the redirect URL of this app"
      tell(.internalError, message: "handleExternalURL: \(why)", extras: ["url": String(url.prefix(256))])
      return fail(request, EntitlementError(.outOfOrder, message: why))
    }
    switch phase {
    case .browsing(let login, let choice, _):
      finish(request, .heard)
      if url.refusesAccess { return end(login, .genericAuthentication, Self.denied) }
      fetch(login, choice, nil)
    case .leaving(let requests):
      finish(request, .heard)
      phase = .ready
      for request in requests { tellSignedOut(request) }
    case .ready:
      guard let service = tokens.pending?.offer.service else { return fail(request, EntitlementError(.outOfOrder)) }
      // An earlier run of the app opened the browser and then ended, so no sign-in is running.
      let login = Login(waiters: [.authentication(request)])
      if url.refusesAccess { return end(login, .genericAuthentication, Self.denied) }
      fetch(login, Choice(provider: nil, service: service, domain: nil), nil)
    default: fail(request, EntitlementError(.outOfOrder))
    }
  }
}

extension RegistrationOffer {
  init(_ record: CodeRecord, _ choice: Choice) {
    // Services of other makes may have codes of another form, which are shown unchanged.
    let ours = try? RegistrationCode(typed: record.code)
    self.init(
      code: record.code, display: ours?.display ?? record.code, url: record.url,
      urlComplete: record.urlComplete, expires: record.expires, provider: choice.provider,
      service: choice.service)
  }
}

extension String {
  /// Whether this URL is the redirect URL `address`, followed by nothing but a query or fragment.
  ///
  /// Browsers write scheme and host in lower case, and add a slash to an `http` address without a path.
  fileprivate func comesBack(to address: String) -> Bool {
    let (url, address) = (withLowercaseOrigin, address.withLowercaseOrigin)
    return url.continues(address) || address.hasPrefix("http") && address.isOnlyAnOrigin && url.continues(address + "/")
  }

  private func continues(_ address: String) -> Bool {
    guard utf8.starts(with: address.utf8) else { return false }
    let rest = utf8.dropFirst(address.utf8.count)
    guard let next = rest.first else { return true }
    let hasQuery = address.utf8.contains(UInt8(ascii: "?"))
    return next == UInt8(ascii: "#") || next == UInt8(ascii: hasQuery ? "&" : "?")
  }

  /// Whether the redirect URL reports that the sign-in failed, such as with `?error=access_denied`.
  fileprivate var refusesAccess: Bool {
    guard let question = firstIndex(of: "?") else { return false }
    let query = self[question...].dropFirst().prefix { $0 != "#" }
    return query.split(separator: "&").contains { $0.hasPrefix("error=") }
  }
}
