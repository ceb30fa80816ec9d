internal import RegentHTTPCodec
internal import HTTPServer
internal import RegentPairing
internal import PairingStore

extension Phone {
  /// Mounts the pages for choosing a provider and for signing in there.
  func mountProviderChoice(_ routes: inout Routes) {
    page(&routes, "/(D)/{code}/provider", showProviders)
    form(&routes, "/(D)/{code}/provider", from: .browser, chooseProvider)
    page(&routes, "/(D)/{code}/sign-in") { call in
      let opened = try pending(call)
      let provider = try signInProvider(opened, call)
      return signInPage(opened, provider, call)
    }
    form(&routes, "/(D)/{code}/sign-in", from: .browser, signIn)
  }

  // MARK: - The provider

  private func showProviders(_ call: inout PhoneCall) async throws -> PhoneAnswer {
    let opened = try pending(call)
    var page = ChooseProviderPage(
      bar: opened.bar(at: call.now), among: choices(opened), query: call.queried("q") ?? "",
      chosen: preselected(opened, call), choice: choice)
    page.isSwitching = isSwitching(call)
    return .page(page, here: opened.path(.provider), brand: brand(opened))
  }

  private func chooseProvider(_ call: inout PhoneCall) async throws -> PhoneAnswer {
    let opened = try pending(call)
    let wanted = call.field("provider")
    guard
      let provider = choices(opened).first(where: { $0.id.text.utf8.elementsEqual(wanted.utf8) })
    else {
      return .notice(
        .providerUnavailable, retry: opened.path(.provider), brand: brand(opened))
    }
    if call.account?.provider == provider.id, !isSwitching(call) {
      try await claim(opened, call)
      return .redirect(opened.path(.approve))
    }
    guard provider.temporaryPass != nil else { return .redirect(signIn(opened, at: provider)) }
    try await enter(opened, asGuestOf: provider, &call)
    return .redirect(opened.path(.approve))
  }

  /// Signs the browser in as a guest of a temporary provider, which has no accounts.
  ///
  /// The new session is kept only if it also gets the claim on the code. Otherwise an attacker could fill the store
  /// with sessions by repeating the request.
  private func enter(
    _ opened: OpenedCode, asGuestOf provider: Provider, _ call: inout PhoneCall
  ) async throws {
    try checkFree(opened, call)
    try core.limits.take(
      .visitor, from: call.request.clientAddress, at: opened.record.requestor)
    try await start(as: Viewer(provider: provider.id, account: nil), proved: nil, at: opened.record.requestor, &call)
    do {
      try await claim(opened, call)
    } catch {
      // Another browser claimed the code first, so the guest's session is ended again.
      if let session = call.session { try await sessions.end(session, audit: nil) }
      call.session = nil
      throw error
    }
  }

  /// Whether the viewer wants to sign in with another account, which may be at the same provider.
  private func isSwitching(_ call: PhoneCall) -> Bool { call.queried("switch") != nil }

  // MARK: - The account

  private func signIn(_ call: inout PhoneCall) async throws -> PhoneAnswer {
    let opened = try pending(call)
    let provider = try signInProvider(opened, call)
    switch try await signIn(at: provider, &call) {
    case .right:
      try await claim(opened, call)
      return .redirect(opened.path(.approve))
    case .again(let problem): return signInPage(opened, provider, call, problem)
    case .stop(let answer): return answer
    }
  }

  private func signInPage(
    _ opened: OpenedCode, _ provider: Provider, _ call: PhoneCall,
    _ problem: SignInPage.Problem? = nil
  ) -> PhoneAnswer {
    var page = SignInPage(
      bar: opened.bar(at: call.now), provider: provider.id.text, brand: choice(provider).brand,
      userName: call.field("user"), hasOthers: choices(opened).count > 1, problem: problem)
    if let contact = core.provisioning.now.requestor(opened.record.requestor)?.contact {
      page.contact = ForeignText(contact, limit: 200)
    }
    return .page(page, here: signIn(opened, at: provider), brand: brand(opened))
  }

  private func signInProvider(_ opened: OpenedCode, _ call: PhoneCall) throws -> Provider {
    let wanted = call.queried("provider") ?? ""
    let provider = choices(opened).first { $0.id.text.utf8.elementsEqual(wanted.utf8) }
    guard let provider, provider.hasAccounts else {
      throw PhoneStop(.redirect(opened.path(.provider)))
    }
    return provider
  }
}

/// The result of checking a user name and password.
enum SignInOutcome {
  case right
  /// The sign-in failed, and the form is shown again with this problem.
  case again(SignInPage.Problem)
  /// The sign-in failed, and this response ends the attempt, for example because of too many tries.
  case stop(PhoneAnswer)
}

extension Phone {
  /// Signs the browser in with the form fields `user` and `password`, with or without a code.
  func signIn(at provider: Provider, _ call: inout PhoneCall) async throws -> SignInOutcome {
    // Phone keyboards add a space after a completed name, so outer spaces are removed. No account name ends with a
    // space.
    let (user, password) = (call.field("user").withoutOuterSpaces, call.field("password"))
    guard !user.isEmpty, !password.isEmpty else { return .again(.empty) }
    let again = SafePath(returning: String(decoding: call.request.target, as: UTF8.self))
    // The password may be changed or rehashed while it is being checked. The second round then checks against the new
    // hash.
    for _ in 0..<2 {
      switch try await signInCheck.verify(
        user, password, at: provider.id, from: call.request.clientAddress)
      {
      case .wrong: return .again(.refused)
      case .wait(let wait): return .stop(.notice(.tooManyTries, wait: wait, retry: again))
      case .busy: return .stop(.notice(.busy, wait: .seconds(2), retry: again))
      case .right(let name, let proved):
        do {
          try await start(as: Viewer(provider: provider.id, account: name), proved: proved, &call)
          return .right
        } catch let error as StoreError {
          switch error {
          case .changedMeanwhile: continue
          // The account was disabled or deleted after the check. The page says the same as for a wrong password.
          case .notInForce: return .again(.refused)
          default: throw error
          }
        }
      }
    }
    return .stop(.notice(.busy, wait: .seconds(2), retry: again))
  }

  /// Starts a new session for the viewer and sets its cookie; the old cookie becomes invalid.
  ///
  /// `proved` is the stored hash with which the password was checked; nil for guests. `requestor` is that of the
  /// guest's code.
  func start(as viewer: Viewer, proved: String?, at requestor: RequestorID? = nil, _ call: inout PhoneCall) async throws
  {
    let (session, cookie) = try await sessions.start(
      as: viewer, proved: proved, replacing: call.session, in: call.browserID, call.request, at: requestor)
    call.session = session
    if let cookie = jar.keep(.session, cookie, for: SessionRecord.longest) {
      call.setCookies.append(cookie)
    }
  }
}

extension ChooseProviderPage {
  /// The maximum number of providers on the page.
  ///
  /// Viewers find the others by searching.
  private static let most = 100

  /// Makes the page for a list of providers.
  ///
  /// It filters the list by the search text and keeps its order.
  init(
    bar: CodeBar?, among all: [Provider], query: String, chosen: Provider?,
    choice: (Provider) -> ProviderChoice
  ) {
    let query = query.shortened(to: 64)
    let wanted = query.lowercased()
    let matching = all.filter {
      $0.id != chosen?.id && (wanted.isEmpty || $0.name.lowercased().contains(wanted))
    }
    let shown = matching.prefix(Self.most)
    self.init(
      bar: bar, query: query, chosen: chosen.map(choice),
      featured: shown.filter(\.featured).map(choice),
      others: shown.filter { !$0.featured }.map(choice), hidden: matching.count - shown.count)
  }
}
