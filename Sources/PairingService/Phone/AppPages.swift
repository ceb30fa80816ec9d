internal import RegentHTTPCodec
internal import HTTPServer
internal import RegentPairing
internal import PairingStore

extension Phone {
  /// The apps of a box, on its viewer's screens: decided about here, the box hears of it within a moment.
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
      // What the box never told is no app: nobody fills the places of a box from a phone.
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

  /// The screen of the path, when it is the box's own sign-in; an app's has no apps.
  private func box(_ call: PhoneCall) async throws -> AuthenticationRecord {
    let screen = try await screen(call)
    guard holdsApps(screen) else { throw PhoneStop(.notice(.notFound, retry: PagePaths.screens)) }
    return screen
  }

  /// Whether a sign-in is a box's own, which apps may use.
  func holdsApps(_ record: AuthenticationRecord) -> Bool {
    record.authentication.source == .regular
      && core.provisioning.now.requestor(record.authentication.requestor)?.isPlatform == true
  }

  /// The apps that are in by the box, and those that the box told of.
  private func apps(of box: AuthenticationRecord, _ now: Instant) async throws -> [AppChoice] {
    let decisions = try await core.store.decisions(of: box.deviceHash)
    var known = Dictionary(
      decisions.map { (AppOfBox(app: $0.app, requestor: $0.requestor), AppDecision($0.isGranted)) },
      uniquingKeysWith: { first, _ in first })
    for child in try await core.store.children(of: box.authentication.id, at: now) {
      let app = AppOfBox(app: child.authentication.parent?.app ?? "", requestor: child.authentication.requestor)
      // The box let it in before it told of the decision.
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

/// An app, and whose it is.
private struct AppOfBox: Hashable {
  let app: String
  let requestor: RequestorID
}
