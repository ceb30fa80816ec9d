internal import RegentCryptography
internal import RegentHTTPCodec
internal import HTTPServer
internal import RegentJSON
internal import RegentPairing
internal import PairingStore
internal import RegentOAuth

extension Phone {
  /// Mounts the pages for comparing, approving and denying, and the paths that extend or end a browser's claim on a
  /// code, which keeps other browsers from deciding at the same time.
  func mountDecision(_ routes: inout Routes) {
    page(&routes, "/(D)/{code}/approve", compare)
    form(&routes, "/(D)/{code}/approve", approve)
    form(&routes, "/(D)/{code}/deny", deny)
    page(&routes, "/(D)/{code}/number", askNumber)
    form(&routes, "/(D)/{code}/number", takeNumber)
    page(&routes, "/(D)/{code}/report") { call in
      let opened = try decidable(call)
      guard opened.record.flow.match != nil else { return .redirect(opened.path(.approve)) }
      return .page(ReportPage(bar: opened.bar(at: call.now)), here: opened.path(.report), brand: brand(opened))
    }
    // These paths of forms also accept GET. When a browser has lost the response to a form, its reload may send a GET
    // to the form's address, as in WebKitGTK.
    for step in ["open", "deny", "release", "renew"] {
      page(&routes, "/(D)/{code}/\(step)") { call in .redirect(try pending(call).path(.approve)) }
    }
    form(&routes, "/(D)/{code}/renew") { call in
      let opened = try pending(call)
      try await keepLease(opened, call)
      if let session = call.session {
        _ = try await core.codeTransitions.renew(opened.record.id, by: session.id)
      }
      return .response(Response(.noContent))
    }
    form(&routes, "/(D)/{code}/release", from: .browser) { call in
      let opened = try pending(call)
      if let session = call.session, case .claimed(let lease) = opened.record.flow.state,
        lease.claimer.session == session.id
      {
        _ = try await core.codeTransitions.release(opened.record.id, by: session.id)
      }
      return .redirect(opened.path(.provider).query("switch", "1"))
    }
  }

  // MARK: - Compare

  private func compare(_ call: inout PhoneCall) async throws -> PhoneAnswer {
    let opened = try decidable(call)
    let about = opened.record.about
    let name = about.name ?? ""
    let model = about.model.flatMap { name.contains($0) ? nil : $0 } ?? ""
    var page = ApprovePage(
      bar: opened.bar(at: call.now), deviceName: ForeignText(name),
      deviceModel: ForeignText(model),
      network: network(call.request, about.address.flatMap { IPAddress($0) }),
      asked: opened.record.flow.issued, asksNumber: opened.record.flow.match != nil,
      hasOthers: choices(opened).count > 1)
    if let asked = about.asked {
      page.scope = (try? Scope(asked.scope))?.names ?? []
      // A name that a client gave itself is shown as a claim (“calls itself …”). A client without a name is shown by
      // its id.
      let program = ForeignText(firstSeen: name, asked.client.text)
      page.deviceName = asked.isSelfNamed ? program : ForeignText("")
      page.program = asked.isSelfNamed ? nil : program
    }
    if call.account == nil, let guest = call.session?.viewer.provider {
      page.guestOf = choices(opened).first { $0.id == guest }.map { ForeignText(firstSeen: $0.name, $0.id.text) }
    }
    return .page(page, here: opened.path(.approve), brand: brand(opened))
  }

  /// Whether phone and screen are on the same network; unknown where a proxy may stand in front of both.
  ///
  /// Behind a proxy that is missing from the settings, every client has the proxy's address. An attacker's box would
  /// then appear to be in the same network as the phone. Signs of such a proxy are forwarding headers, or a private
  /// client address although the public URL has a public name.
  private func network(_ request: Request, _ screen: IPAddress?) -> ApprovePage.Network {
    guard !request.isFromTrustedProxy else { return .between(request.clientAddress, screen) }
    if request.hasUndeclaredProxy { return .unknown }
    let isPublic = (try? AbsoluteURL(parsing: core.options.publicURL))?.host.isInsideAHome == false
    let isInside = [request.clientAddress, screen].contains { $0?.isNotOfTheInternet ?? true }
    return isPublic && isInside ? .unknown : .between(request.clientAddress, screen)
  }

  private func askNumber(_ call: inout PhoneCall) async throws -> PhoneAnswer {
    let opened = try decidable(call)
    guard opened.record.flow.match != nil else { return .redirect(opened.path(.approve)) }
    return .page(
      MatchNumberPage(bar: opened.bar(at: call.now), isAgain: call.queried("again") != nil),
      here: opened.path(.number), brand: brand(opened))
  }

  /// A pending code that this browser may decide.
  ///
  /// Its viewer is signed in at one of the code's providers, and no other browser has claimed the code.
  private func decidable(_ call: PhoneCall) throws -> OpenedCode {
    let opened = try pending(call)
    guard let session = call.session,
      choices(opened).contains(where: { $0.id == session.viewer.provider })
    else { throw PhoneStop(.redirect(opened.path(.provider))) }
    try checkFree(opened, call)
    return opened
  }

  /// Claims the code again when this browser's claim has expired and no other browser has claimed it since.
  private func keepLease(_ opened: OpenedCode, _ call: PhoneCall) async throws {
    if case .claimed(let lease) = opened.record.flow.state, lease.until > call.now,
      lease.claimer.session == call.session?.id
    {
      return
    }
    try await claim(opened, call)
  }

  // MARK: - Approve

  private func approve(_ call: inout PhoneCall) async throws -> PhoneAnswer {
    let opened = try decidable(call)
    try await keepLease(opened, call)
    guard opened.record.flow.match == nil else { return .redirect(opened.path(.number)) }
    return try await approve(opened, picked: nil, call)
  }

  private func takeNumber(_ call: inout PhoneCall) async throws -> PhoneAnswer {
    let opened = try decidable(call)
    guard opened.record.flow.match != nil else { return .redirect(opened.path(.approve)) }
    // Only a two-digit number uses up the viewer's single try. A single digit or a letter is a typing mistake, and the
    // viewer may try again.
    guard let picked = NumberMatch.typed(call.field("number")) else {
      return .redirect(opened.path(.number).query("again", "1"))
    }
    try await keepLease(opened, call)
    return try await approve(opened, picked: picked, call)
  }

  private func approve(_ opened: OpenedCode, picked: Int?, _ call: PhoneCall) async throws
    -> PhoneAnswer
  {
    guard let session = call.session, let authentication = AuthenticationID(Random.uuid()) else {
      return .redirect(opened.path(.provider))
    }
    let isWrong = opened.record.flow.match.map { $0.number != picked } ?? false
    try core.limits.takeAct(of: session.viewer, from: call.request.clientAddress)
    if !isWrong {
      try core.limits.takeSignIn(
        of: session.viewer, from: call.request.clientAddress, at: opened.record.requestor)
    }
    let entry = core.audit.entry(
      of: session.viewer, isWrong ? "code.deny" : "code.approve", opened.record.id.text,
      detail: (isWrong ? "wrong number: " : "") + opened.record.auditLabel, at: opened.record.requestor,
      from: call.request.clientAddress)
    do throws(StoreError) {
      let result = try await core.codeTransitions.approve(
        opened.record.id,
        ApprovalRequest(
          by: .session(session.id, picked: picked), authentication: authentication), audit: entry)
      await core.signInTransitions.makeRoom(besides: result.authentication)
    } catch {
      // The code is approved already, because a double tap sent the form twice. The result page shows who approved it.
      guard error == .refused(.alreadyApproved) else { throw error }
    }
    return .redirect(opened.path(.result))
  }

  // MARK: - Deny

  private func deny(_ call: inout PhoneCall) async throws -> PhoneAnswer {
    let opened = try decidable(call)
    try await keepLease(opened, call)
    guard let session = call.session else { return .redirect(opened.path(.provider)) }
    try core.limits.takeAct(of: session.viewer, from: call.request.clientAddress)
    let isReport = call.field("reason") == "not-me"
    let entry = core.audit.entry(
      of: session.viewer, isReport ? "code.report" : "code.deny", opened.record.id.text,
      detail: (isReport ? "the viewer did not start this: " : "") + opened.record.auditLabel,
      at: opened.record.requestor, from: call.request.clientAddress)
    _ = try await core.codeTransitions.deny(opened.record.id, by: session.id, audit: entry)
    if isReport {
      core.metrics.count(.codesReported)
      core.log.warning(
        "code-reported", ("viewer", session.viewer.title), ("code", opened.record.id.text),
        ("box", opened.record.auditLabel),
        ("hint", "the viewer did not start this: another person may try to use the account; see regentctl audit tail"))
    }
    let result = opened.path(.result)
    return .redirect(isReport ? result.query("as", "reported") : result)
  }
}

extension DeviceDescription {
  /// The device's model, from the information that the device sent.
  fileprivate var model: String? {
    guard let information,
      let object = (try? JSONValue(reading: Array(information.utf8)))?.object
    else { return nil }
    return object["model"]?.string
  }
}

extension ApprovePage.Network {
  /// Compares the network addresses of phone and screen.
  ///
  /// The result is a hint for the viewer and never decides anything.
  fileprivate static func between(_ phone: IPAddress?, _ screen: IPAddress?) -> Self {
    guard let phone, let screen, phone.isIPv4 == screen.isIPv4, !phone.isLoopback,
      !screen.isLoopback
    else { return .unknown }
    if phone.source == screen.source { return .same }
    // The devices of one home network have different private addresses, of which usually the first 24 bits are equal.
    // Their public address is the same (IPv6: its first 64 bits), which the line above compares.
    let isHome = phone.isPrivate && screen.isPrivate
    return isHome && phone.network(leadingBits: 24) == screen.network(leadingBits: 24)
      ? .same : .different
  }
}

extension IPAddress {
  /// Whether this is a private IPv4 address (RFC 1918).
  fileprivate var isPrivate: Bool {
    isIPv4 && (low >> 24 == 10 || low >> 20 == 0xAC1 || low >> 16 == 0xC0A8)
  }
}
