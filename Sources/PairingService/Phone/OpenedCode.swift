internal import RegentHTTPCodec
internal import HTTPServer
internal import RegentPairing
internal import PairingStore

/// A code that this browser has opened, with the registration behind it.
struct OpenedCode: Sendable {
  let code: RegistrationCode
  let record: RegistrationRecord

  /// The line above its pages.
  func bar(at now: Instant) -> CodeBar {
    CodeBar(code: code, expires: record.flow.expires, now: now)
  }

  /// One of its pages.
  func path(_ step: PagePaths.CodeStep) -> SafePath { PagePaths.code(code, step) }
}

extension Phone {
  /// Whether this browser has opened a code before: what it asks about that one is no guess.
  func hasOpened(_ code: RegistrationCode, _ call: PhoneCall) -> Bool {
    seals.hasOpened(code, cookie: jar.value(.codes, in: call.cookies), browserID: call.browserID)
  }

  /// The code of a page; whoever has not opened it here is sent to do so, whether it exists or not.
  func opened(_ call: PhoneCall) throws -> OpenedCode {
    guard let code = call.code else { throw PhoneStop(.notice(.unknownCode)) }
    guard hasOpened(code, call) else { throw PhoneStop(.redirect(PagePaths.code(code))) }
    // It existed when this browser opened it, so it has expired and was forgotten since.
    guard let record = core.codes.find(core.hasher.code(code)) else {
      throw PhoneStop(.notice(.expired))
    }
    return OpenedCode(code: code, record: record)
  }

  /// The same, as long as the code waits for an answer.
  func pending(_ call: PhoneCall) throws -> OpenedCode {
    let opened = try opened(call)
    guard opened.record.flow.settled(at: call.now).state.isPending else {
      throw PhoneStop(ending(opened, call))
    }
    return opened
  }

  /// What is said about a code that waits no more.
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

  /// Whether this very browser said yes, as the viewer who is signed in now.
  func isMine(_ approval: Approval, _ call: PhoneCall) -> Bool {
    guard case .session(let session) = approval.by else { return false }
    return session == call.session?.id || approval.viewer == call.session?.viewer && isOfThisBrowser(session, call)
  }

  /// Whether this browser started a session, be it that the answer was lost or that another tab signed in since.
  private func isOfThisBrowser(_ session: SessionID, _ call: PhoneCall) -> Bool {
    session == call.session?.id || seals.isSession(session, of: call.browserID)
  }

  // MARK: - Who and whose

  /// The app that the screen runs.
  func brand(_ opened: OpenedCode) -> Brand? {
    core.provisioning.now.requestor(opened.record.requestor).map {
      Brand(
        name: ForeignText(firstSeen: $0.name, $0.id.text), logo: logo($0.logo),
        accent: $0.color.flatMap { color in
          AccentColor(hex: color)
        })
    }
  }

  /// A provider as pages show it.
  func choice(_ provider: Provider) -> ProviderChoice {
    ProviderChoice(
      id: provider.id.text,
      brand: Brand(name: ForeignText(firstSeen: provider.name, provider.id.text), logo: logo(provider.logo)))
  }

  /// Logos that this service serves itself; the pages' policy shows no others.
  private func logo(_ address: String?) -> SafePath? {
    guard let address else { return nil }
    let own = core.options.publicURL
    let isOwn = !own.isEmpty && address.hasPrefix("\(own)/")
    return SafePath(returning: isOwn ? String(address.dropFirst(own.count)) : address)
  }

  /// The providers that a code can be approved with here; a promotional pass wants to know more than a page asks.
  func choices(_ opened: OpenedCode) -> [Provider] {
    let all = core.provisioning.now.choices[opened.record.requestor] ?? []
    return all.map(\.provider).filter { $0.temporaryPass?.promotional != true }
  }

  /// The provider that was chosen before: on the programmer's page that sent the browser here, else on the screen.
  func preselected(_ opened: OpenedCode, _ call: PhoneCall) -> Provider? {
    let wanted = returnAddress(opened, call)?.provider ?? opened.record.preselected
    return wanted.flatMap { id in choices(opened).first { $0.id == id } }
  }

  /// What a programmer's page asked for with this code.
  func returnAddress(_ opened: OpenedCode, _ call: PhoneCall) -> ReturnAddress? {
    let way = seals.returnAddress(jar.value(.back, in: call.cookies), browserID: call.browserID)
    return way?.code == opened.code ? way : nil
  }

  // MARK: - The way on

  /// The next page of a code that has been opened, with as few taps as can be.
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

  /// The page that asks for an account at a provider.
  func signIn(_ opened: OpenedCode, at provider: Provider) -> SafePath {
    opened.path(.signIn).query("provider", provider.id.text)
  }

  /// Throws, when another browser has the code now.
  func checkFree(_ opened: OpenedCode, _ call: PhoneCall) throws {
    guard case .claimed(let lease) = opened.record.flow.state, lease.until > call.now,
      !isOfThisBrowser(lease.claimer.session, call)
    else { return }
    throw StoreError.refused(.claimedByAnother(until: lease.until))
  }

  /// Takes the code for this browser's session, or keeps it.
  ///
  /// A claim of an earlier session of the same browser is taken over.
  func claim(_ opened: OpenedCode, _ call: PhoneCall) async throws {
    guard let session = call.session else { throw PhoneStop(.redirect(opened.path(.provider))) }
    let id = opened.record.id
    do throws(StoreError) {
      _ = try await core.codeTransitions.claim(id, by: session.id)
    } catch {
      guard case .refused(.claimedByAnother) = error else { throw error }
      // The record in `opened` may be older than a claim that this browser made meanwhile, perhaps at another node.
      if core.codeLooks.areNeeded { try await core.codeLooks.lookAfresh(at: core.hasher.code(opened.code)) }
      guard case .claimed(let lease)? = core.codes.find(id)?.flow.state, isOfThisBrowser(lease.claimer.session, call)
      else { throw error }
      try await takeOver(id, from: lease.claimer)
      _ = try await core.codeTransitions.claim(id, by: session.id)
    }
  }

  /// An account's session goes on until the next sign-in: of two answers on their way, the browser may keep its cookie.
  private func takeOver(_ id: RegistrationID, from earlier: Claimer) async throws(StoreError) {
    do throws(StoreError) {
      if earlier.viewer.account == nil {
        try await core.codeTransitions.endSession(earlier.session, audit: nil)
      } else {
        _ = try await core.codeTransitions.release(id, by: earlier.session)
      }
    } catch {
      // Not its claim any more: the next claim finds out whose it is.
      guard case .refused = error else { throw error }
    }
  }
}
