internal import Administration
internal import RegentHTTPCodec
internal import RegentPairing
internal import PairingStore

// Admin routes for boxes that share their sign-in with apps.

extension AdminRouteBuilder {
  mutating func mountBoxes() {
    on(.get, AdminPaths.boxes) { call throws(AdminError) in
      let after: BoxID? = try call.optionalIdentifier(parameter: "after", "box")
      let limit = try call.limit()
      let boxes = try await stored { () throws(StoreError) in
        try await call.core.store.boxes(after: after, limit: limit, at: call.now)
      }
      var entries: [BoxEntry] = []
      for box in boxes { entries.append(try await call.entry(of: box)) }
      return .list(of: entries)
    }
    on(.get, AdminPaths.one(AdminPaths.boxes, "{box}")) { call throws(AdminError) in
      .document(try await call.entry(of: try await call.box()))
    }
    on(.post, AdminPaths.act(AdminPaths.boxes, "{box}", "sign-out")) { call throws(AdminError) in
      .document(try await call.signOutBox())
    }
  }
}

extension AdminCall {
  fileprivate func box() async throws(AdminError) -> BoxOverview {
    try await lookUp("box", text("box"), \.box.id) { (after, limit) throws(StoreError) in
      try await core.store.boxes(after: after, limit: limit, at: now)
    }
  }

  fileprivate func entry(of overview: BoxOverview) async throws(AdminError) -> BoxEntry {
    let permissions = try await stored { () throws(StoreError) in
      try await core.store.decisions(of: overview.signIn.deviceHash)
    }
    let signIn = overview.signIn.authentication
    return BoxEntry(
      id: overview.box.id, device: overview.signIn.deviceHash.shortName, name: overview.signIn.about.name,
      requestor: signIn.requestor, provider: signIn.viewer.provider, account: signIn.viewer.account,
      enrolled: overview.box.enrolled, expires: signIn.expires,
      apps: overview.apps.map(BoxEntry.App.init),
      permissions: permissions.filter { $0.isGranted != nil }.map { decision in
        BoxEntry.Permission(
          app: decision.app, requestor: decision.requestor, permission: AppDecision(decision.isGranted).rawValue,
          decided: decision.decided)
      })
  }

  fileprivate func signOutBox() async throws(AdminError) -> BoxEntry {
    let overview = try await box()
    let entry = try await entry(of: overview)
    let signIn = overview.signIn
    let line = self.entry(
      "platform.sign-out", overview.box.id.text,
      detail: overview.apps.detail(behind: "\(signIn.authentication.viewer.title), \(signIn.deviceTitle)"))
    try await stored { () throws(StoreError) in
      _ = try await core.signInTransitions.revoke(
        AuthenticationFilter(
          requestor: signIn.authentication.requestor, device: signIn.deviceHash, viewer: signIn.authentication.viewer),
        audit: line)
    }
    return entry
  }
}

extension BoxEntry.App {
  init(_ record: AuthenticationRecord) {
    let authentication = record.authentication
    self.init(
      name: authentication.parent?.app ?? "", requestor: authentication.requestor, issued: authentication.issued,
      expires: authentication.expires)
  }
}
