internal import Administration
internal import RegentCryptography
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentPairing
internal import PairingStore

// Admin routes for signed-in devices, and for the phone sessions that approved them.

extension AdminRouteBuilder {
  mutating func mountDevices() {
    on(.get, AdminPaths.signIns) { call throws(AdminError) in
      let after: AuthenticationID? = try call.optionalIdentifier(parameter: "after", "sign-in")
      let (filter, limit) = (try call.signInFilter(), try call.limit())
      return .list(of: try await call.signIns(filter, after: after, limit: limit))
    }
    on(.get, AdminPaths.one(AdminPaths.signIns, "{authentication}")) { call throws(AdminError) in
      let record = try await call.signInRecord()
      let names = try await stored { () throws(StoreError) in try await call.core.screenNames(of: [record]) }
      return .document(try await call.detailed(record, call.signIn(record, name: names[record.authentication.id])))
    }
    on(.post, AdminPaths.act(AdminPaths.signIns, "{authentication}", "revoke")) {
      call throws(AdminError) in .document(try await call.revokeSignIn())
    }
    on(.get, AdminPaths.devices) { call throws(AdminError) in
      let device = try await call.device()
      return .list(of: try await call.signIns(AuthenticationFilter(device: device), isDetailed: true))
    }
    on(.patch, AdminPaths.devices) { call throws(AdminError) in
      try await call.renameDevice()
      return .done
    }
    on(.delete, AdminPaths.devices) { call throws(AdminError) in
      let device = try await call.device()
      let filter = AuthenticationFilter(device: device)
      let ended = try await stored { () throws(StoreError) in
        let there = try await call.core.store.authentications(filter, after: nil, limit: .max, at: call.now)
        let apps = try await call.core.apps(endingWith: there, at: call.now)
        return try await call.core.signInTransitions.revoke(
          filter, audit: call.entry("device.sign-out", device.shortName, detail: apps.detail()))
      }
      return .document(CountDocument(ended.count))
    }
  }

  mutating func mountSessions() {
    on(.get, AdminPaths.sessions) { call throws(AdminError) in
      if try call.parameter("account") != nil { return .list(of: try await call.sessions()) }
      let after: SessionID? = try call.optionalIdentifier(parameter: "after", "session")
      let limit = try call.limit()
      let records = try await stored { () throws(StoreError) in
        try await call.core.store.sessions(after: after, limit: limit, at: call.now)
      }
      return .list(of: records.map(SessionEntry.init))
    }
    on(.get, AdminPaths.one(AdminPaths.sessions, "{session}")) { call throws(AdminError) in
      .document(SessionEntry(try await call.session()))
    }
    on(.post, AdminPaths.act(AdminPaths.sessions, "{session}", "end")) {
      call throws(AdminError) in
      let session = try await call.session()
      let id = session.id
      let line = call.entry("session.end", id.text)
      let wasThere = try await stored { () throws(StoreError) in
        try await call.core.codeTransitions.endSession(id, audit: line)
      }
      guard wasThere else { throw .missing("session", id.text) }
      return .document(SessionEntry(session))
    }
  }
}

extension AdminCall {
  /// Reads from the query which sign-ins to list.
  fileprivate func signInFilter() throws(AdminError) -> AuthenticationFilter {
    var filter = AuthenticationFilter(
      requestor: try optionalIdentifier(parameter: "requestor", "requestor"))
    if let requestor = filter.requestor, core.provisioning.now.records.requestors[requestor] == nil {
      throw .missing("requestor", requestor.text)
    }
    filter.provider = try optionalIdentifier(parameter: "provider", "provider")
    filter.account = try optionalIdentifier(parameter: "account", "account")
    filter.visitorID = try parameter("visitor")
    filter.since = try instant(parameter: "since")
    filter.before = try instant(parameter: "before")
    return filter
  }

  fileprivate func signIns(
    _ filter: AuthenticationFilter, after id: AuthenticationID? = nil,
    limit: Int = AdminPaths.page, isDetailed: Bool = false
  ) async throws(AdminError) -> [SignInEntry] {
    let (records, names) = try await stored { () throws(StoreError) in
      let records = try await core.store.authentications(
        filter, after: id, limit: limit, at: now)
      return (records, try await core.screenNames(of: records))
    }
    var signIns: [SignInEntry] = []
    var accounts: [Viewer: Account] = [:]
    for record in records {
      var one = signIn(record, name: names[record.authentication.id])
      if isDetailed {
        one = try await detailed(record, one)
      } else {
        let viewer = record.authentication.viewer
        if accounts[viewer] == nil { accounts[viewer] = try await account(of: viewer) }
        one.refusal = obstacles(to: record, accounts[viewer]).first { $0.status == .bad }?.detail
      }
      signIns.append(one)
    }
    return signIns
  }

  /// Adds to the entry of a sign-in whether it may be used, and the apps that use it.
  fileprivate func detailed(_ record: AuthenticationRecord, _ signIn: SignInEntry) async throws(AdminError)
    -> SignInEntry
  {
    var signIn = signIn
    let findings = try await reasons(about: record, nil)
    signIn.findings = findings
    if let obstacle = findings.first(where: { $0.status == .bad }), obstacle.check != "rules" {
      signIn.refusal = obstacle.detail
      signIn.refusedSince = try await start(of: obstacle, for: record)
    }
    signIn.apps = try await stored { () throws(StoreError) in
      try await core.apps(endingWith: [record], at: now).map(BoxEntry.App.init)
    }
    return signIn
  }

  /// Makes the list entry of a sign-in.
  ///
  /// It contains the time of the last use, if this process has seen one.
  fileprivate func signIn(_ record: AuthenticationRecord, name: String?) -> SignInEntry {
    var signIn = SignInEntry(record, name: name, for: role)
    signIn.lastUsed = core.lastUses.of(record.authentication.id)
    return signIn
  }

  /// The device that the query names; throws “not found” when it is not signed in at any requestor.
  func device() async throws(AdminError) -> DeviceHash {
    guard let typed = try parameter("id"), DeviceID(typed) != nil else {
      throw AdminError(.invalid, "the parameter id is missing or is not a device id")
    }
    guard let device = try await findDevice(typed) else { throw .missing("device", typed) }
    return device
  }

  fileprivate func renameDevice() async throws(AdminError) {
    let device = try await device()
    let request = try body
    let name = try shaped { () throws(JSONShapeError) in try request.optionalString("name") }
    if let name {
      guard name.utf8.count <= 100, AccountName(name) != nil else {
        throw AdminError(
          .invalid, "a device's name must be 1 to 100 bytes without control characters")
      }
    }
    let line = entry("device.rename", device.shortName, detail: name?.quoted ?? "")
    // The name that an operator gives a device applies to all its screens (one for each requestor and viewer).
    try await stored { () throws(StoreError) in
      let records = try await core.store.authentications(
        AuthenticationFilter(device: device), after: nil, limit: AdminPaths.page, at: now)
      for (place, record) in records.enumerated() {
        try await core.setScreenName(record, name, audit: place == 0 ? line : nil, at: now)
      }
    }
  }

  fileprivate func signInRecord() async throws(AdminError) -> AuthenticationRecord {
    try await lookUp("sign-in", text("authentication"), \.authentication.id) {
      (after, limit) throws(StoreError) in
      try await core.store.authentications(
        AuthenticationFilter(), after: after, limit: limit, at: now)
    }
  }

  fileprivate func revokeSignIn() async throws(AdminError) -> SignInEntry {
    let record = try await signInRecord()
    let authentication = record.authentication
    let apps = try await stored { () throws(StoreError) in try await core.apps(endingWith: [record], at: now) }
    let line = entry(
      "token.revoke", authentication.id.text,
      detail: apps.detail(
        behind: "\(authentication.requestor) for \(authentication.viewer.title), \(record.deviceTitle)"))
    try await stored { () throws(StoreError) in
      _ = try await core.signInTransitions.revoke(
        AuthenticationFilter(
          requestor: authentication.requestor, device: record.deviceHash,
          viewer: authentication.viewer), audit: line)
    }
    var ended = signIn(record, name: nil)
    ended.apps = apps.map(BoxEntry.App.init)
    return ended
  }

  fileprivate func session() async throws(AdminError) -> SessionRecord {
    try await lookUp("session", text("session"), \.id) { (after, limit) throws(StoreError) in
      try await core.store.sessions(after: after, limit: limit, at: now)
    }
  }

  fileprivate func sessions() async throws(AdminError) -> [SessionEntry] {
    let name: AccountName = try identifier(parameter: "account", "account")
    let wanted: ProviderID? = try optionalIdentifier(parameter: "provider", "provider")
    let providers = core.provisioning.now.records.providers.keys.sorted().filter {
      wanted == nil || wanted == $0
    }
    var entries: [SessionEntry] = []
    var isKnown = false
    for provider in providers {
      let (account, sessions) = try await stored { () throws(StoreError) in
        (
          try await core.store.account(provider, name),
          try await core.store.sessions(
            of: Viewer(provider: provider, account: name), at: now)
        )
      }
      isKnown = isKnown || account != nil
      entries += sessions.map(SessionEntry.init)
    }
    guard isKnown || !entries.isEmpty else {
      throw wanted.map { .missing(.account($0, name)) } ?? .missing("account", name.text)
    }
    return entries
  }
}

extension SignInEntry {
  init(_ record: AuthenticationRecord, name: String?, for role: AdminRole) {
    let authentication = record.authentication
    self.init(
      id: authentication.id, device: record.deviceHash.shortName,
      deviceID: DeviceCode.shownID(of: record.device, record.deviceHash, record.about, to: role),
      requestor: authentication.requestor,
      provider: authentication.viewer.provider,
      account: authentication.viewer.account, source: authentication.source.rawValue,
      issued: authentication.issued, expires: authentication.expires)
    givenName = name
    self.name = record.about.name
    household = authentication.household
    address = record.about.address
    userAgent = record.about.userAgent
    app = AppReport(record.about, authentication.profile)
  }
}

extension SessionEntry {
  init(_ session: SessionRecord) {
    self.init(
      id: session.id, provider: session.viewer.provider, account: session.viewer.account,
      started: session.started, lastUsed: session.lastUsed, expires: session.expires,
      address: session.address, userAgent: session.userAgent)
  }
}
