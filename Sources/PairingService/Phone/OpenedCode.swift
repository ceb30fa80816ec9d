internal import RegentHTTPCodec
internal import HTTPServer
internal import RegentPairing
internal import PairingStore

/// A code whose page this browser has opened, with the stored registration of the code.
struct OpenedCode: Sendable {
  let code: RegistrationCode
  let record: RegistrationRecord

  func bar(at now: Instant) -> CodeBar {
    CodeBar(code: code, expires: record.flow.expires, now: now)
  }

  func path(_ step: PagePaths.CodeStep) -> SafePath { PagePaths.code(code, step) }
}

extension Phone {
  /// Whether this browser has opened the code before.
  ///
  /// If so, a request for the code is not counted as a guess.
  func hasOpened(_ code: RegistrationCode, _ call: PhoneCall) -> Bool {
    seals.hasOpened(code, cookie: jar.value(.codes, in: call.cookies), browserID: call.browserID)
  }

  /// The opened code that the path names.
  ///
  /// A browser that has not opened it is redirected to the page that opens codes, whether or not the code exists.
  func opened(_ call: PhoneCall) throws -> OpenedCode {
    guard let code = call.code else { throw PhoneStop(.notice(.unknownCode)) }
    guard hasOpened(code, call) else { throw PhoneStop(.redirect(PagePaths.code(code))) }
    // The code existed when this browser opened it. It has expired and was deleted since.
    guard let record = core.codes.find(core.hasher.code(code)) else {
      throw PhoneStop(.notice(.expired))
    }
    return OpenedCode(code: code, record: record)
  }

  /// The opened code that the path names, if it still waits for a decision; otherwise throws the page that says how it
  /// ended.
  func pending(_ call: PhoneCall) throws -> OpenedCode {
    let opened = try opened(call)
    guard opened.record.flow.settled(at: call.now).state.isPending else {
      throw PhoneStop(ending(opened, call))
    }
    return opened
  }

  /// The page that is shown for a code that no longer waits for a decision.
  func ending(_ opened: OpenedCode, _ call: PhoneCall) -> PhoneAnswer {
    let brand = brand(opened)
    switch opened.record.flow.settled(at: call.now).state {
    case .approved(let approval), .delivered(let approval, _):
      return isMine(approval, call)
        ? .redirect(opened.path(.result)) : .notice(.used, brand: brand)
    case .denied(let denial):
      return .notice(denial.reason == .wrongNumber ? .wrongNumber : .denied, brand: brand)
    case .expired: return .notice(.expired, brand: brand)
    case .withdrawn: return .notice(.withdrawn, brand: brand)
    case .offered, .opened, .claimed: return .redirect(opened.path(.approve))
    }
  }

  /// Whether this browser approved the code, as the viewer who is signed in now.
  func isMine(_ approval: Approval, _ call: PhoneCall) -> Bool {
    guard case .session(let session) = approval.by else { return false }
    return session == call.session?.id || approval.viewer == call.session?.viewer && isOfThisBrowser(session, call)
  }

  /// Whether this browser started the session.
  ///
  /// This is recognised even if the response with the cookie was lost or another tab has signed in since.
  private func isOfThisBrowser(_ session: SessionID, _ call: PhoneCall) -> Bool {
    session == call.session?.id || seals.isSession(session, of: call.browserID)
  }

  // MARK: - Apps and providers

  /// The name, logo and colour of the requestor whose app the screen runs.
  func brand(_ opened: OpenedCode) -> Brand? {
    core.provisioning.now.requestor(opened.record.requestor).map {
      Brand(
        name: ForeignText(firstSeen: $0.name, $0.id.text), logo: logo($0.logo),
        accent: $0.color.flatMap { color in
          AccentColor(hex: color)
        })
    }
  }

  func choice(_ provider: Provider) -> ProviderChoice {
    ProviderChoice(
      id: provider.id.text,
      brand: Brand(name: ForeignText(firstSeen: provider.name, provider.id.text), logo: logo(provider.logo)))
  }

  /// The path of a logo on this service; nil for other hosts, because the content security policy blocks their images.
  private func logo(_ address: String?) -> SafePath? {
    guard let address else { return nil }
    let own = core.options.publicURL
    let isOwn = !own.isEmpty && address.hasPrefix("\(own)/")
    return SafePath(returning: isOwn ? String(address.dropFirst(own.count)) : address)
  }

  /// The providers at which this code can be approved on these pages.
  ///
  /// Promotional passes are left out: they need an identity that these pages do not ask for.
  func choices(_ opened: OpenedCode) -> [Provider] {
    let all = core.provisioning.now.choices[opened.record.requestor] ?? []
    return all.map(\.provider).filter { $0.temporaryPass?.promotional != true }
  }

  /// The provider that was preselected by the application's page that sent the browser here, or else on the screen.
  func preselected(_ opened: OpenedCode, _ call: PhoneCall) -> Provider? {
    let wanted = returnAddress(opened, call)?.provider ?? opened.record.preselected
    return wanted.flatMap { id in choices(opened).first { $0.id == id } }
  }

  /// The return address that the application's page gave when it sent the browser here with this code; nil when no page
  /// did.
  func returnAddress(_ opened: OpenedCode, _ call: PhoneCall) -> ReturnAddress? {
    let way = seals.returnAddress(jar.value(.back, in: call.cookies), browserID: call.browserID)
    return way?.code == opened.code ? way : nil
  }

  // MARK: - Next page

  /// The next page for an opened code.
  ///
  /// It skips the choice of the provider and the sign-in if the viewer has done them already.
  func next(_ opened: OpenedCode, _ call: PhoneCall) async throws -> PhoneAnswer {
    let preselected = preselected(opened, call)
    if let provider = call.account?.provider, preselected.map({ $0.id == provider }) ?? true,
      choices(opened).contains(where: { $0.id == provider })
    {
      try await claim(opened, call)
      return .redirect(opened.path(.approve))
    }
    let all = choices(opened)
    guard let only = preselected ?? (all.count == 1 ? all.first : nil), only.hasAccounts else {
      return .redirect(opened.path(.provider))
    }
    return .redirect(signIn(opened, at: only))
  }

  func signIn(_ opened: OpenedCode, at provider: Provider) -> SafePath {
    opened.path(.signIn).query("provider", provider.id.text)
  }

  /// Throws when another browser has claimed the code.
  func checkFree(_ opened: OpenedCode, _ call: PhoneCall) throws {
    guard case .claimed(let lease) = opened.record.flow.state, lease.until > call.now,
      !isOfThisBrowser(lease.claimer.session, call)
    else { return }
    throw StoreError.refused(.claimedByAnother(until: lease.until))
  }

  /// Claims the code for this browser's session, or extends its claim.
  ///
  /// A claim by an earlier session of the same browser is ended first.
  func claim(_ opened: OpenedCode, _ call: PhoneCall) async throws {
    guard let session = call.session else { throw PhoneStop(.redirect(opened.path(.provider))) }
    let id = opened.record.id
    for _ in 0..<Self.mostTakeOvers {
      do throws(StoreError) {
        _ = try await core.codeTransitions.claim(id, by: session.id)
        return
      } catch {
        guard case .refused(.claimedByAnother) = error else { throw error }
        // The code is read again. This browser may have claimed it, perhaps at another node, after the record in
        // `opened` was read.
        if core.codeLooks.areNeeded { try await core.codeLooks.lookAfresh(at: core.hasher.code(opened.code)) }
        // Another request of this browser may have ended the claim meanwhile.
        guard case .claimed(let lease)? = core.codes.find(id)?.flow.state else { continue }
        guard isOfThisBrowser(lease.claimer.session, call) else { throw error }
        try await takeOver(id, from: lease.claimer)
      }
    }
    _ = try await core.codeTransitions.claim(id, by: session.id)
  }

  /// How many other requests of the same browser may claim a code while one request does.
  ///
  /// Without script a browser sends a form again at each tap, and while Enter is held down.
  private static let mostTakeOvers = 20

  /// Ends the claim of an earlier session of this browser.
  ///
  /// The earlier session of an account stays valid until the next sign-in. When two responses are on their way, the
  /// browser may keep either cookie.
  private func takeOver(_ id: RegistrationID, from earlier: Claimer) async throws(StoreError) {
    do throws(StoreError) {
      if earlier.viewer.account == nil {
        try await core.codeTransitions.endSession(earlier.session, audit: nil)
      } else {
        _ = try await core.codeTransitions.release(id, by: earlier.session)
      }
    } catch {
      // The earlier session no longer has a claim on the code. The next claim finds out which session has.
      guard case .refused = error else { throw error }
    }
  }
}
