internal import PasswordHashing
internal import RegentCryptography
internal import RegentHTTPCodec
internal import HTTPServer
internal import RegentPairing
internal import PairingStore

extension Phone {
  /// Mounts the pages for a sign-in without a code, the change of the password, and sign-out.
  func mountAccount(_ routes: inout Routes) {
    page(&routes, PagePaths.signIn.text, showSignInProviders)
    form(&routes, PagePaths.signIn.text, from: .browser) { call in
      guard let provider = local(call.field("provider")) else {
        return .notice(.providerUnavailable, retry: PagePaths.signIn)
      }
      return .redirect(signIn(provider, returning: call))
    }
    page(&routes, "/sign-in/{provider}") { call in
      guard let provider = local(call.path?[ifCaptured: "provider"]) else {
        return .notice(.notFound)
      }
      return signInPage(provider, call)
    }
    form(&routes, "/sign-in/{provider}", from: .browser) { call in
      guard let provider = local(call.path?[ifCaptured: "provider"]) else {
        return .notice(.notFound)
      }
      switch try await signIn(at: provider, &call) {
      case .right: return .redirect(returnPath(call) ?? PagePaths.screens)
      case .again(let problem): return signInPage(provider, call, problem)
      case .stop(let answer): return answer
      }
    }
    page(&routes, PagePaths.password.text) { call in
      let viewer = try account(call, returning: PagePaths.password)
      guard try await mayChangePassword(viewer) else { return .redirect(PagePaths.screens) }
      return passwordPage(viewer)
    }
    form(&routes, PagePaths.password.text, changePassword)
    page(&routes, PagePaths.signOut.text) { _ in
      .page(ConfirmPage(.signOut), here: PagePaths.signOut)
    }
    form(&routes, PagePaths.signOut.text, from: .viewerOrSignedOut) { call in
      try await signOut(&call)
      return .notice(.signedOut)
    }
  }

  // MARK: - Signing in

  private var localProviders: [Provider] {
    core.provisioning.now.records.providers.values.filter { $0.hasAccounts }
      .sorted {
        ($0.featured ? 0 : 1, $0.name.lowercased()) < ($1.featured ? 0 : 1, $1.name.lowercased())
      }
  }

  private func local(_ id: String?) -> Provider? {
    guard let id = id.flatMap({ ProviderID($0) }) else { return nil }
    let provider = core.provisioning.now.records.providers[id]
    return provider?.hasAccounts == true ? provider : nil
  }

  private func showSignInProviders(_ call: inout PhoneCall) async throws -> PhoneAnswer {
    let all = localProviders
    if all.count == 1, let only = all.first { return .redirect(signIn(only, returning: call)) }
    var page = ChooseProviderPage(
      bar: nil, among: all, query: call.queried("q") ?? "", chosen: nil, choice: choice)
    page.returnTo = returnPath(call)
    return .page(page, here: PagePaths.signIn)
  }

  private func signIn(_ provider: Provider, returning call: PhoneCall) -> SafePath {
    let path = PagePaths.signIn(provider: provider.id.text)
    return returnPath(call).map { path.query("return", $0.text) } ?? path
  }

  /// The page to show after the sign-in, as the request names it.
  ///
  /// Only paths of this service are accepted.
  private func returnPath(_ call: PhoneCall) -> SafePath? {
    let sent = call.field("return")
    return (sent.isEmpty ? call.queried("return") : sent).flatMap { SafePath(returning: $0) }
  }

  private func signInPage(
    _ provider: Provider, _ call: PhoneCall, _ problem: SignInPage.Problem? = nil
  ) -> PhoneAnswer {
    .page(
      SignInPage(
        bar: nil, provider: provider.id.text, brand: choice(provider).brand,
        userName: call.field("user"), returnTo: returnPath(call),
        hasOthers: localProviders.count > 1, problem: problem),
      here: signIn(provider, returning: call))
  }

  // MARK: - The password

  private func changePassword(_ call: inout PhoneCall) async throws -> PhoneAnswer {
    let viewer = try account(call, returning: PagePaths.password)
    guard let name = viewer.account, let session = call.session else {
      return .redirect(PagePaths.signIn)
    }
    guard try await mayChangePassword(viewer) else { return .redirect(PagePaths.screens) }
    let (current, new) = (call.field("current"), call.field("new"))
    if let problem = problem(current, new) { return passwordPage(viewer, problem) }
    let proved: String
    switch try await signInCheck.verify(
      name.text, current, at: viewer.provider, from: call.request.clientAddress)
    {
    case .wrong: return passwordPage(viewer, .wrongCurrent)
    case .wait(let wait): return .notice(.tooManyTries, wait: wait, retry: PagePaths.password)
    case .busy: return .notice(.busy, wait: .seconds(2), retry: PagePaths.password)
    case .right(_, let hash): proved = hash
    }
    try core.limits.takeAct(of: viewer, from: call.request.clientAddress)
    let phc: String
    do throws(PasswordError) {
      phc = try await core.passwords.hash(Secret(new))
    } catch {
      return .notice(.busy, wait: .seconds(2), retry: PagePaths.password)
    }
    do throws(StoreError) {
      try await core.codeTransitions.setPassword(
        phc, of: name, at: viewer.provider, by: .viewer(session.id, proved: proved),
        audit: entry("account.password", "\(viewer.provider)/\(name)", call), at: call.now)
    } catch {
      // An operator has changed the password meanwhile. A client that proved only the earlier password must not
      // overwrite the new one.
      guard case .changedMeanwhile = error else { throw error }
      return passwordPage(viewer, .wrongCurrent)
    }
    return .redirect(PagePaths.screens.query("done", "password-changed"))
  }

  /// Whether this viewer may change the password on these pages.
  ///
  /// The account's own setting takes precedence over the provider's.
  func mayChangePassword(_ viewer: Viewer) async throws -> Bool {
    guard let name = viewer.account else { return false }
    return try await core.store.account(viewer.provider, name)?.mayChangePassword
      ?? core.provisioning.now.records.providers[viewer.provider]?.mayChangePasswords ?? true
  }

  private func problem(_ current: String, _ new: String) -> ChangePasswordPage.Problem? {
    if new.utf8.count > PasswordHasher.longestPassword { return .tooLong }
    if new.unicodeScalars.count < PasswordRule.least { return .tooShort }
    return new.utf8.elementsEqual(current.utf8) ? .unchanged : nil
  }

  private func passwordPage(
    _ viewer: Viewer, _ problem: ChangePasswordPage.Problem? = nil
  ) -> PhoneAnswer {
    .page(
      ChangePasswordPage(
        userName: viewer.account?.text ?? "", minimum: PasswordRule.least, problem: problem),
      here: PagePaths.password)
  }

  // MARK: - Signing out

  func signOut(_ call: inout PhoneCall) async throws {
    if let session = call.session {
      let line =
        core.limits.hasSessionLine(for: session.viewer)
        ? core.audit.entry(of: session.viewer, "session.end", session.id.text, from: call.request.clientAddress) : nil
      try await sessions.end(session, audit: line)
    }
    call.session = nil
    call.forgetsPages = true
    if let cookie = jar.forget(.session) { call.setCookies.append(cookie) }
  }
}
