internal import RegentCryptography
internal import RegentHTTPCodec
package import HTTPServer
internal import RegentPairing
internal import PairingStore

/// The routes of the phone's pages: every path of `PagePaths`, the static files, and the protocol's paths for browsers.
///
/// A GET changes nothing in the store. Every change is a POST of a form that this service gave to the same browser.
package struct Phone: Sendable {
  let core: ServiceCore
  let pages: PhonePages
  let seals: BrowserSeals
  let jar: BrowserCookies
  let origin: FormOrigin
  let signInCheck: SignInCheck
  let sessions: PhoneSessions

  package init(_ core: ServiceCore, _ pages: PhonePages) async throws {
    self.core = core
    self.pages = pages
    seals = try await BrowserSeals(core.store)
    jar = BrowserCookies(publicURL: core.options.publicURL)
    origin = FormOrigin(publicURL: core.options.publicURL)
    signInCheck = SignInCheck(core)
    sessions = PhoneSessions(core, seals)
  }

  package func mount(_ routes: inout Routes) {
    mountStaticFiles(&routes)
    mountStart(&routes)
    mountProviderChoice(&routes)
    mountDecision(&routes)
    mountResult(&routes)
    mountScreens(&routes)
    mountApps(&routes)
    mountAccount(&routes)
    mountBrowserCalls(&routes)
  }

  /// The response to a request that matches no route.
  ///
  /// It repeats nothing from the request, which may be hostile.
  package func refuse(_ request: Request, _ refusal: Refusal) -> Response {
    guard request.wantsPage else { return ServiceRoutes.refuse(request, refusal) }
    let (call, isNew) = call(request, nil)
    // A viewer who types the path of a form into the address bar gets the page for unknown addresses.
    var response = response(.notice(.notFound), to: call, isNew: isNew)
    response.status = refusal.status
    return response
  }

  /// The page that a node shows while its clock is wrong.
  ///
  /// Such a node decides nothing.
  package func unavailable(_ request: Request) -> Response {
    let (call, isNew) = call(request, nil)
    return response(.notice(.busy, wait: ClockGuardPause.span), to: call, isNew: isNew)
  }
}

/// Handles a request of the phone.
///
/// Changes that it makes to its argument, such as new cookies, become part of the response.
typealias PhoneWork = @Sendable (inout PhoneCall) async throws -> PhoneAnswer
/// Handles a request whose response may be held as a long poll.
typealias PhoneWaitingWork = @Sendable (inout PhoneCall) async throws -> PhoneOutcome

/// The viewers to whom the page of an accepted form may have been shown.
///
/// The page must always have been shown to this browser.
enum FormSource {
  /// The form is accepted only if its page was shown to the viewer who is signed in now, so that a decision is never
  /// carried out as another viewer.
  case viewer
  /// The form is accepted if its page was shown to the viewer who is signed in now, or if no viewer is signed in.
  ///
  /// Signing out twice therefore succeeds.
  case viewerOrSignedOut
  /// The form is accepted even if its page was shown to another viewer who used the same browser.
  ///
  /// This is safe because such a form, for example a typed code, approves nothing. It leads to a page that names the
  /// signed-in viewer.
  case browser
}

extension Phone {
  func page(_ routes: inout Routes, _ path: String, _ work: @escaping PhoneWork) {
    waitingPage(&routes, path) { call in .answer(try await work(&call)) }
  }

  /// Registers a page whose response may be held as a long poll until the state changes.
  func waitingPage(_ routes: inout Routes, _ path: String, _ work: @escaping PhoneWaitingWork) {
    routes.get(path) { request, captured in answer(request, captured, form: nil, work) }
  }

  /// Registers the path of a form.
  ///
  /// It checks the form's origin and token before `work` runs.
  func form(
    _ routes: inout Routes, _ path: String, from source: FormSource = .viewer, _ work: @escaping PhoneWork
  ) {
    routes.post(path) { request, captured in
      answer(request, captured, form: source) { call in .answer(try await work(&call)) }
    }
  }

  private func answer(
    _ request: Request, _ captured: PathParameters, form source: FormSource?,
    _ work: @escaping PhoneWaitingWork
  ) -> Answer {
    .later { reply in
      Task {
        var (call, isNew) = call(request, captured)
        let answer: PhoneAnswer
        do {
          try core.limits.take(request.clientAddress)
          call.session = try await sessions.find(jar.value(.session, in: call.cookies))
          if core.codeLooks.areNeeded, let code = call.code, hasOpened(code, call) {
            try await core.codeLooks.lookAfresh(at: core.hasher.code(code))
          }
          if let source {
            try check(call, isNew, from: source)
            if let session = call.session { try await sessions.touch(session) }
          }
          switch try await work(&call) {
          case .answer(let made): answer = made
          case .wait(let wait): return park(reply, wait)
          }
        } catch {
          answer = self.answer(error, call)
        }
        reply.complete(response(answer, to: call, isNew: isNew))
      }
    }
  }

  private func call(_ request: Request, _ captured: PathParameters?) -> (PhoneCall, Bool) {
    core.undeclaredProxy.note(request, at: core.clock.uptime)
    let cookies = request.cookies
    let known = jar.value(.browserID, in: cookies).flatMap { BrowserSeals.isID($0) ? $0 : nil }
    let call = PhoneCall(
      request: request, path: captured, query: (try? request.queryParameters()) ?? .init(),
      form: (try? request.form()) ?? .init(), cookies: cookies, now: core.clock.now,
      language: pages.language(
        chosen: jar.value(.language, in: cookies),
        acceptLanguage: request.header(.acceptLanguage)),
      browserID: known ?? BrowserSeals.newID())
    return (call, known == nil)
  }

  /// Throws unless this browser was shown the form on one of the pages that `source` allows.
  private func check(_ call: PhoneCall, _ isNew: Bool, from source: FormSource) throws {
    guard origin.accepts(call.request) else { throw refused("origin", .formExpired, call) }
    guard !isNew else { throw refused("no cookie", .cookiesNeeded, call) }
    let viewer = call.session?.viewer
    switch seals.match(call.field("csrf"), browserID: call.browserID, viewer: viewer, at: call.now) {
    case .none: throw refused("token", .formExpired, call)
    case .viewer: return
    case .browser:
      guard source == .browser || source == .viewerOrSignedOut && viewer == nil else {
        throw refused("viewer", .viewerChanged, call)
      }
    }
  }

  private func refused(_ reason: String, _ kind: NoticePage.Kind, _ call: PhoneCall) -> PhoneStop {
    core.metrics.count(.callsRefused)
    core.log.info(
      "form-refused", ("reason", reason),
      ("address", call.request.clientAddress?.description ?? ""),
      ("host", call.request.authority ?? ""))
    return PhoneStop(.notice(kind, retry: call.scanned.map { PagePaths.scanned($0) }))
  }

  private func park(_ reply: PendingReply, _ wait: PhoneWait) {
    core.waiters.park(
      reply, for: .code(wait.registration), core.waiters.phonePlace(), from: wait.source, span: wait.span,
      while: wait.isStill,
      end: { end in
        var response = wait.answer()
        if case .stopping = end { response.closesConnection = true }
        reply.complete(response)
      })
  }
}

// MARK: - Responses

extension Phone {
  private func response(_ answer: PhoneAnswer, to call: PhoneCall, isNew: Bool) -> Response {
    var response: Response
    switch answer {
    case .page(let page, let here, let brand):
      response = html(page, call, here, brand)
      if let notice = page as? NoticePage, let wait = notice.wait {
        response.addHeader(.retryAfter, String(wait))
      }
    case .leaving(let page, let here):
      response = html(page, call, here, page.brand)
      // The browser is sent on with `Refresh`. A redirect after a form would be blocked, because browsers apply
      // `form-action` of the content security policy to it, which allows this service only.
      response.addHeader(HeaderName(literal: "Refresh"), "0; url=\(page.address.text)")
    case .redirect(let path, let status):
      response = Response(status)
      response.addHeader(.location, path.below(pages.base))
    case .response(let other): response = other
    }
    if response.header(.cacheControl) == nil { response.addHeader(.cacheControl, "no-store") }
    if call.forgetsPages {
      // Browsers keep whole pages for the back button, whatever Cache-Control says, so they are told to delete them.
      response.addHeader(HeaderName(literal: "Clear-Site-Data"), "\"cache\"")
    }
    let browserID = isNew ? jar.keep(.browserID, call.browserID) : nil
    for cookie in [browserID].compactMap(\.self) + call.setCookies {
      response.addHeader(.setCookie, cookie.headerValue)
    }
    return response
  }

  private func html(
    _ page: any PhonePage, _ call: PhoneCall, _ here: SafePath, _ brand: Brand?
  ) -> Response {
    let frame = PageFrame(
      language: call.language, now: call.now,
      formToken: seals.formToken(browserID: call.browserID, viewer: call.session?.viewer, at: call.now),
      here: here, isPlainHTTP: core.options.isReadableOnTheWay, viewer: viewer(call), brand: brand)
    var response = Response(
      Status(UInt16(clamping: page.status)), type: "text/html; charset=utf-8",
      body: pages.render(page, in: frame))
    response.addHeader(HeaderName(literal: "Content-Language"), call.language.tag)
    return response
  }

  private func viewer(_ call: PhoneCall) -> ViewerLabel? {
    guard let viewer = call.account, let name = viewer.account else { return nil }
    let provider = core.provisioning.now.records.providers[viewer.provider]
    return ViewerLabel(
      name: ForeignText(name.text), provider: ForeignText(firstSeen: provider?.name, viewer.provider.text))
  }

  /// The page that shows an error to the viewer.
  private func answer(_ error: any Error, _ call: PhoneCall) -> PhoneAnswer {
    switch error {
    case let stop as PhoneStop: return stop.answer
    case let error as CallError where error.status == .tooManyRequests:
      return .notice(.tooManyTries, wait: error.retryAfter, retry: call.scanned.map(startOver))
    case let error as StoreError:
      core.storeTrouble.note(error)
      return answer(error, call)
    default:
      let reference = Random.uuid()
      core.log.error("page-failed", ("reference", reference), ("reason", "\(error)"))
      return .page(NoticePage(.failed, reference: reference), here: .root)
    }
  }

  private func answer(_ error: StoreError, _ call: PhoneCall) -> PhoneAnswer {
    let provider = call.code.map { PagePaths.code($0, .provider) }
    switch error {
    case .refused(let refusal): return answer(refusal, call)
    case .notInForce(.notIntegrated), .notInForce(.switchedOff), .notInForce(.keyRevoked), .pass:
      return .notice(.providerUnavailable, retry: provider)
    // The account was disabled, or the session was ended in another browser or by an operator. The viewer must sign in
    // again.
    case .notInForce, .sessionEnded: return .redirect(provider ?? PagePaths.signIn)
    case .notFound: return .notice(.unknownCode)
    case .exchange, .codeTaken, .changedMeanwhile, .tooManyLiveCodes, .tooManyClients, .unkeepable, .diskFull,
      .unavailable, .unknownOutcome:
      return .notice(.busy, wait: .seconds(5), retry: call.scanned.map(startOver))
    }
  }

  private func answer(_ refusal: PairingRefusal, _ call: PhoneCall) -> PhoneAnswer {
    let approve = call.code.map { PagePaths.code($0, .approve) }
    switch refusal {
    case .expired: return .notice(.expired)
    case .withdrawn: return .notice(.withdrawn)
    case .denied: return .notice(.denied)
    case .alreadyApproved: return .notice(.used)
    case .claimedByAnother(let until):
      // The time that is left of the claim is capped at the length of a claim: with the clock of another node it may
      // look too long.
      return .notice(.held, wait: min(until.since(core.clock.now), ClaimLease.span), retry: approve)
    case .notTheClaimer: return .notice(.held, retry: approve)
    case .notApproved, .notClaimed, .leaseLapsed: return .redirect(approve ?? .root)
    case .numberMissing:
      return .redirect(call.code.map { PagePaths.code($0, .number) } ?? .root)
    }
  }

  func startOver(_ scanned: ScannedCode) -> SafePath { PagePaths.scanned(scanned) }
}

extension Request {
  /// Whether the client should get an error as a page.
  ///
  /// Paths of the protocol are for programs, which get JSON or XML.
  fileprivate var wantsPage: Bool {
    let start = String(decoding: path.prefix(16), as: UTF8.self)
    return !["/api/", "/reggie/", "/o/", "/oauth/", "/static/"].contains(where: start.hasPrefix)
  }
}
