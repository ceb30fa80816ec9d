internal import RegentHTTPCodec
internal import HTTPServer
internal import RegentPairing
internal import PairingStore

extension Phone {
  /// Mounts the page where a viewer decides which apps of a box may use its sign-in.
  ///
  /// The box learns of a decision within a moment.
  func mountApps(_ routes: inout Routes) {
    page(&routes, "/screens/{id}/apps") { call in
      let box = try await box(call)
      return .page(
        AppsPage(
          id: box.authentication.id.text, name: try await name(of: box), apps: try await apps(of: box, call.now),
          isDone: call.queried("done") != nil),
        here: PagePaths.apps(screen: box.authentication.id.text))
    }
    form(&routes, "/screens/{id}/apps") { call in
      let box = try await box(call)
      let page = PagePaths.apps(screen: box.authentication.id.text)
      // The viewer can decide only about apps that the box has reported or that are signed in. Otherwise a phone could
      // fill the box's limited list of apps with invented names.
      guard let decision = AppDecision(rawValue: call.field("permission")),
        let app = try await apps(of: box, call.now).first(where: {
          $0.app.utf8.elementsEqual(call.field("app").utf8)
            && $0.requestor.utf8.elementsEqual(call.field("requestor").utf8)
        }), let requestor = RequestorID(app.requestor)
      else { return .notice(.notFound, retry: page) }
      try core.limits.takeAct(of: box.authentication.viewer, from: call.request.clientAddress)
      try await core.boxDecisions.decide(
        PlatformPermissionRecord(
          device: box.deviceHash, app: app.app, requestor: requestor, isGranted: decision.isGranted,
          decided: call.now),
        audit: entry(
          "platform.decide", box.deviceHash.shortName, call, detail: "\(decision.rawValue): \(app.app) for \(requestor)"
        ))
      return .redirect(page.query("done", "1"))
    }
  }

  /// The screen that the path names, if it is a box's own sign-in.
  ///
  /// The sign-in of an app has no apps of its own.
  private func box(_ call: PhoneCall) async throws -> AuthenticationRecord {
    let screen = try await screen(call)
    guard holdsApps(screen) else { throw PhoneStop(.notice(.notFound, retry: PagePaths.screens)) }
    return screen
  }

  /// Whether this is a box's own sign-in, which apps on the box can use.
  func holdsApps(_ record: AuthenticationRecord) -> Bool {
    record.authentication.source == .regular
      && core.provisioning.now.requestor(record.authentication.requestor)?.isPlatform == true
  }

  /// The apps that are signed in through the box, and those for which the box has reported a decision.
  private func apps(of box: AuthenticationRecord, _ now: Instant) async throws -> [AppChoice] {
    let decisions = try await core.store.decisions(of: box.deviceHash)
    var known = Dictionary(
      decisions.map { (AppOfBox(app: $0.app, requestor: $0.requestor), AppDecision($0.isGranted)) },
      uniquingKeysWith: { first, _ in first })
    for child in try await core.store.children(of: box.authentication.id, at: now) {
      let app = AppOfBox(app: child.authentication.parent?.app ?? "", requestor: child.authentication.requestor)
      // The app is signed in, but the box has not reported the viewer's decision yet. The viewer must have allowed the
      // app.
      if known[app] == nil { known[app] = .granted }
    }
    let provisioned = core.provisioning.now
    return known.sorted { ($0.key.app, $0.key.requestor) < ($1.key.app, $1.key.requestor) }.map { app, decision in
      AppChoice(
        app: app.app, requestor: app.requestor.text,
        company: ForeignText(firstSeen: provisioned.requestor(app.requestor)?.name, app.requestor.text),
        permission: decision)
    }
  }
}

/// An app on a box, with the requestor that publishes it.
private struct AppOfBox: Hashable {
  let app: String
  let requestor: RequestorID
}
