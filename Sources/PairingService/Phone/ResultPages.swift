internal import HTTPServer
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentPairing
internal import PairingStore

extension Phone {
  /// The maximum duration of the result page's long poll.
  private static let longestWait: Duration = .seconds(25)
  /// The time after which the result page says that the screen has not fetched its sign-in yet.
  ///
  /// A screen in a long poll fetches it within a second.
  private static let lateness: Duration = .seconds(3)
  /// The time after which an approved screen that has not fetched its sign-in counts as silent.
  private static let silence: Duration = .seconds(30)

  /// Mounts the page with the result of a decision, and its long poll.
  func mountResult(_ routes: inout Routes) {
    page(&routes, "/(D)/{code}/result", result)
    waitingPage(&routes, "/(D)/{code}/wait") { call in
      let opened = try opened(call)
      guard approval(opened, call) != nil else { throw PhoneStop(.notice(.unknownCode)) }
      return wait(opened, seen: call.queried("state") ?? "", from: SourceKey(call.request.clientAddress))
    }
  }

  private func result(_ call: inout PhoneCall) async throws -> PhoneAnswer {
    let opened = try opened(call)
    guard let approval = approval(opened, call) else {
      let isReport = call.queried("as") == "reported"
      guard case .denied = opened.record.flow.state else { return ending(opened, call) }
      // A viewer who did not start the sign-in is not sent to the application that did.
      if isReport { return .notice(.reported, brand: brand(opened)) }
      return leave(opened, .denied, &call) ?? ending(opened, call)
    }
    if let answer = leave(opened, .signedIn, &call) { return answer }
    return .page(
      ResultPage(
        bar: opened.bar(at: call.now),
        state: Self.state(opened.record.flow, approval, at: call.now)),
      here: opened.path(.result), brand: brand(opened))
  }

  /// The approval of the code, if this browser gave it; else nil.
  private func approval(_ opened: OpenedCode, _ call: PhoneCall) -> Approval? {
    opened.record.flow.state.approval.flatMap { isMine($0, call) ? $0 : nil }
  }

  /// Sends the browser back to the application's page or app, once.
  ///
  /// A browser that loads the result page again sees the result.
  private func leave(
    _ opened: OpenedCode, _ kind: LeavePage.Kind, _ call: inout PhoneCall
  ) -> PhoneAnswer? {
    guard let way = returnAddress(opened, call),
      let requestor = core.provisioning.now.requestor(opened.record.requestor),
      let address = SafePath(
        leavingTo: way.address, allowedBy: RedirectRule(requestor),
        error: kind == .denied ? "access_denied" : nil)
    else { return nil }
    if let cookie = jar.forget(.back) { call.setCookies.append(cookie) }
    return .leaving(LeavePage(kind, address: address, brand: brand(opened)), here: opened.path(.result))
  }

  private static func state(_ flow: PairingFlow, _ approval: Approval, at now: Instant)
    -> ResultPage.State
  {
    if case .delivered = flow.state { return .delivered }
    let age = now.since(approval.at)
    return age >= silence ? .silent : age >= lateness ? .late : .approved
  }

  // MARK: - Long poll

  private func wait(_ opened: OpenedCode, seen: String, from source: SourceKey?) -> PhoneOutcome {
    let id = opened.record.id
    let now = core.clock.now
    let state = word(id)
    let open: [ResultPage.State] = [.approved, .late, .silent]
    guard state == seen, let known = open.first(where: { $0.rawValue == state }) else {
      return .answer(.response(Self.document(state)))
    }
    var span = Self.longestWait
    if let approval = opened.record.flow.state.approval, known != .silent {
      let next = known == .approved ? Self.lateness : Self.silence
      span = min(span, (approval.at + next).since(now))
    }
    return .wait(
      PhoneWait(
        registration: id, source: source, span: span, isStill: { word(id) == seen },
        answer: { Self.document(word(id)) }))
  }

  /// The state for the long poll of the page's script, or `over` when the page must reload.
  private func word(_ id: RegistrationID) -> String {
    guard let flow = core.codes.find(id)?.flow, let approval = flow.state.approval else {
      return "over"
    }
    return Self.state(flow, approval, at: core.clock.now).rawValue
  }

  private static func document(_ state: String) -> Response {
    let body = JSONWriter.bytes { json in
      json.object { json in json.member("state", state) }
    }
    return Response(.ok, type: "application/json", body: body)
  }
}
