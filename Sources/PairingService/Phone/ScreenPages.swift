internal import RegentHTTPCodec
internal import HTTPServer
internal import RegentPairing
internal import PairingStore

extension Phone {
  private static let allScreens = SafePath(["screens", "sign-out"])

  /// Mounts the list of the viewer's screens, and their renaming and sign-out.
  func mountScreens(_ routes: inout Routes) {
    page(&routes, PagePaths.screens.text) { call in
      let viewer = try account(call, returning: PagePaths.screens)
      let done = ScreensPage.Done.allCases.first { $0.rawValue == call.queried("done") }
      return .page(
        ScreensPage(
          screens: try await screens(viewer, call.now), done: done,
          canChangePassword: try await mayChangePassword(viewer)),
        here: PagePaths.screens)
    }
    page(&routes, "/screens/{id}/rename") { call in
      let screen = try await screen(call)
      let name = try await name(of: screen)
      return renamePage(screen, name)
    }
    form(&routes, "/screens/{id}/rename", rename)
    page(&routes, "/screens/{id}/sign-out") { call in
      let screen = try await screen(call)
      let id = screen.authentication.id.text
      let apps = try await core.apps(endingWith: [screen], at: call.now)
      return .page(
        ConfirmPage(.signOutScreen(id: id, name: try await name(of: screen), apps: apps.map(screenApp))),
        here: PagePaths.signOut(screen: id))
    }
    form(&routes, "/screens/{id}/sign-out") { call in
      let screen = try await screen(call)
      let one = AuthenticationFilter(
        requestor: screen.authentication.requestor, device: screen.deviceHash,
        viewer: screen.authentication.viewer)
      let apps = try await core.apps(endingWith: [screen], at: call.now)
      try await core.signInTransitions.revoke(
        one, audit: entry("device.sign-out", screen.deviceHash.shortName, call, detail: apps.detail()))
      return .redirect(PagePaths.screens.query("done", "signed-out"))
    }
    page(&routes, Self.allScreens.text) { call in
      let viewer = try account(call, returning: PagePaths.screens)
      let count = try await records(viewer, call.now).count
      return .page(ConfirmPage(.signOutAllScreens(count: count)), here: Self.allScreens)
    }
    form(&routes, Self.allScreens.text) { call in
      let viewer = try account(call, returning: PagePaths.screens)
      // The screen is signed out already, because the form was sent twice. No audit entry is written for the second
      // form.
      guard try await !records(viewer, call.now).isEmpty else {
        return .redirect(PagePaths.screens.query("done", "all-signed-out"))
      }
      try await core.signInTransitions.revoke(
        AuthenticationFilter(viewer: viewer), audit: entry("device.sign-out", "all", call))
      return .redirect(PagePaths.screens.query("done", "all-signed-out"))
    }
  }

  /// The account that is signed in in this browser.
  ///
  /// If there is none, it throws a redirect to the sign-in, which returns to `path`. A guest does not count, because
  /// all guests of a provider share one identity: a list of their screens (signed-in devices) would show those of other
  /// guests.
  func account(_ call: PhoneCall, returning path: SafePath) throws -> Viewer {
    guard let viewer = call.account else {
      throw PhoneStop(.redirect(PagePaths.signIn.query("return", path.text)))
    }
    return viewer
  }

  // MARK: - The list

  private func screens(_ viewer: Viewer, _ now: Instant) async throws -> [Screen] {
    let records = try await records(viewer, now)
    guard !records.isEmpty else { return [] }
    let names = try await core.screenNames(of: records)
    let provisioned = core.provisioning.now
    // An app that is signed in through a box has the same viewer as the box, so this list contains its box, too.
    let apps = Dictionary(grouping: records) { $0.authentication.parent?.id }
    let boxes = Dictionary(
      records.filter(holdsApps).map { ($0.authentication.id, name($0, names[$0.authentication.id])) },
      uniquingKeysWith: { first, _ in first })
    return records.map { record in
      let authentication = record.authentication
      let requestor = provisioned.requestor(authentication.requestor)
      let chosen = names[authentication.id]
      // The name that the device gives itself is shown in the second line once the viewer has renamed the screen.
      let model = ForeignText(chosen == nil ? "" : record.about.name ?? "")
      return Screen(
        id: authentication.id.text, name: name(record, chosen),
        model: authentication.parent.flatMap { boxes[$0.id] } ?? model,
        app: ForeignText(firstSeen: requestor?.name, authentication.requestor.text),
        lastUse: core.lastUses.of(authentication.id) ?? authentication.issued,
        since: authentication.issued, apps: apps[authentication.id, default: []].map(screenApp),
        holdsApps: holdsApps(record), isProgram: record.about.asked != nil)
    }.sorted { ($0.lastUse, $0.id) > ($1.lastUse, $1.id) }
  }

  private func records(_ viewer: Viewer, _ now: Instant) async throws
    -> [AuthenticationRecord]
  {
    try await core.store.authentications(
      AuthenticationFilter(viewer: viewer), after: nil, limit: 200, at: now)
  }

  /// The name of a screen for the list.
  ///
  /// An app that the box's account signed in has the name that the box reported. The device name that such an app sends
  /// is only the box's name.
  private func name(_ record: AuthenticationRecord, _ chosen: String?) -> ForeignText {
    ForeignText(
      firstSeen: chosen, record.authentication.parent?.app ?? "", record.about.name ?? "",
      record.about.asked?.client.text ?? "", record.authentication.requestor.text)
  }

  // MARK: - One screen

  /// The screen that the path names, if it belongs to this account; otherwise throws “no such screen”, as for an
  /// unknown id.
  func screen(_ call: PhoneCall) async throws -> AuthenticationRecord {
    let viewer = try account(call, returning: PagePaths.screens)
    let id = call.path?[ifCaptured: "id"] ?? ""
    let all = try await records(viewer, call.now)
    guard let one = all.first(where: { $0.authentication.id.text.utf8.elementsEqual(id.utf8) })
    else { throw PhoneStop(.notice(.noSuchScreen, retry: PagePaths.screens)) }
    return one
  }

  func name(of record: AuthenticationRecord) async throws -> ForeignText {
    name(record, try await core.screenNames(of: [record])[record.authentication.id])
  }

  private func rename(_ call: inout PhoneCall) async throws -> PhoneAnswer {
    let screen = try await screen(call)
    let typed = call.field("name")
    let name = ForeignText(typed, limit: ForeignText.defaultLimit * 4)
    guard !name.isEmpty else { return renamePage(screen, name, .empty) }
    guard name.text.unicodeScalars.count <= ForeignText.defaultLimit else {
      return renamePage(screen, name, .tooLong)
    }
    let done = PhoneAnswer.redirect(PagePaths.screens.query("done", "renamed"))
    let id = screen.authentication.id
    guard try await core.screenNames(of: [screen])[id] != name.text else { return done }
    try core.limits.takeAct(of: screen.authentication.viewer, from: call.request.clientAddress)
    try await core.setScreenName(
      screen, name.text, audit: entry("device.name", screen.deviceHash.shortName, call), at: call.now)
    return done
  }

  private func renamePage(
    _ screen: AuthenticationRecord, _ name: ForeignText, _ problem: RenameScreenPage.Problem? = nil
  ) -> PhoneAnswer {
    let id = screen.authentication.id.text
    return .page(
      RenameScreenPage(id: id, name: name, problem: problem),
      here: PagePaths.rename(screen: id))
  }

  private func screenApp(_ record: AuthenticationRecord) -> ScreenApp {
    let requestor = record.authentication.requestor
    return ScreenApp(
      name: ForeignText(firstSeen: record.authentication.parent?.app, requestor.text),
      company: ForeignText(firstSeen: core.provisioning.now.requestor(requestor)?.name, requestor.text))
  }

  func entry(_ action: String, _ subject: String, _ call: PhoneCall, detail: String = "") -> AuditEntry {
    core.audit.entry(
      call.session.map { .viewer($0.viewer) } ?? .service, action, subject, detail: detail)
  }
}
