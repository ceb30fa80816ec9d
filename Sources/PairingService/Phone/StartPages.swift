internal import RegentHTTPCodec
internal import HTTPServer
internal import RegentPairing
internal import PairingStore

extension Phone {
  /// Mounts the first pages of a sign-in: those for a typed code and for a scanned code, and the choice of the
  /// language.
  func mountStart(_ routes: inout Routes) {
    page(&routes, "/") { _ in .page(EnterCodePage(), here: PagePaths.start) }
    form(&routes, PagePaths.code.text, from: .browser, typedCode)
    page(&routes, PagePaths.code.text) { _ in .redirect(.root) }
    page(&routes, "/(D)/{code}") { call in
      guard let scanned = call.scanned else { return .notice(.unknownCode) }
      // The page is the same whether or not the code exists. Otherwise an attacker could try links without being
      // counted.
      return .page(ScannedCodePage(scanned), here: PagePaths.scanned(scanned))
    }
    form(&routes, "/(D)/{code}/open", from: .browser) { call in
      guard let scanned = call.scanned else { return .notice(.unknownCode) }
      guard let record = try await find(scanned, call) else { return .notice(.unknownCode) }
      return try await open(scanned.code, record, &call)
    }
    form(&routes, PagePaths.language.text, from: .browser, chooseLanguage)
    page(&routes, PagePaths.language.text) { _ in .redirect(.root) }
  }

  // MARK: - Codes

  private func typedCode(_ call: inout PhoneCall) async throws -> PhoneAnswer {
    let typed = call.field("code")
    let scanned: ScannedCode
    do throws(CodeInputError) {
      scanned = try ScannedCode(typed: typed.afterCodePath)
    } catch {
      // Text that cannot be a code is a typing mistake and does not count as a guess.
      return again(typed, EnterCodePage.Problem(error))
    }
    guard let record = try await find(scanned, call) else { return again(typed, .unknown) }
    if case .expired = record.flow.settled(at: call.now).state { return again(typed, .expired) }
    return try await open(scanned.code, record, &call)
  }

  private func again(_ typed: String, _ problem: EnterCodePage.Problem) -> PhoneAnswer {
    .page(EnterCodePage(typed: typed, problem: problem), here: PagePaths.start)
  }

  /// Looks up a typed or scanned code.
  ///
  /// A wrong code counts as a guess for the browser, the account and the source address.
  private func find(_ scanned: ScannedCode, _ call: PhoneCall) async throws -> RegistrationRecord? {
    let address = call.request.clientAddress
    let hash = core.hasher.code(scanned.code)
    // Two requests are no guesses: one for a code that this browser has opened before, and one with the secret of a
    // scanned link. Wrong guesses by other clients at the same address must not make them fail.
    if hasOpened(scanned.code, call), let record = core.codes.find(hash) { return record }
    let guesser: RequestLimits.Guesser? =
      core.hasher.isScanned(scanned) ? nil : .phone(call.account, browser: call.browserID)
    if let guesser { try core.limits.mayTryCode(from: address, as: guesser) }
    try await core.codeLooks.lookAfresh(at: hash)
    // The limit is checked again after the store was read. Otherwise requests that arrive at the same time would all
    // pass before the first is counted as wrong.
    if let guesser { try core.limits.mayTryCode(from: address, as: guesser) }
    guard let record = core.codes.find(hash), call.now < record.flow.forgettable else {
      if let guesser { core.limits.wrongCode(from: address, as: guesser) }
      return nil
    }
    return record
  }

  private func open(
    _ code: RegistrationCode, _ record: RegistrationRecord, _ call: inout PhoneCall
  ) async throws -> PhoneAnswer {
    let known = jar.value(.codes, in: call.cookies)
    if let cookie = jar.keep(.codes, seals.adding(code, to: known, browserID: call.browserID)) {
      call.setCookies.append(cookie)
    }
    let opened = OpenedCode(code: code, record: record)
    guard record.flow.settled(at: call.now).state.isPending else { return ending(opened, call) }
    return try await next(
      OpenedCode(code: code, record: try await core.codeTransitions.open(record.id)), call)
  }

  // MARK: - Language

  private func chooseLanguage(_ call: inout PhoneCall) async throws -> PhoneAnswer {
    let chosen = call.field("language")
    if let tag = pages.languages.first(where: { $0.tag == chosen })?.tag,
      let cookie = jar.keep(.language, tag, for: .seconds(365 * 86_400))
    {
      call.setCookies.append(cookie)
    }
    return .redirect(SafePath(returning: call.field("return")) ?? .root)
  }
}

extension String {
  /// The code in a pasted link; other text is returned unchanged.
  fileprivate var afterCodePath: String {
    let parts = split(separator: "/", omittingEmptySubsequences: false)
    guard let step = parts.lastIndex(where: { $0 == "D" || $0 == "d" }), step > 0,
      parts.indices.contains(step + 1)
    else { return self }
    return String(parts[step + 1].prefix { $0 != "?" && $0 != "#" })
  }
}
