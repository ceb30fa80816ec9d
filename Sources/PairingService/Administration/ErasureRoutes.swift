internal import Administration
internal import PairingStore
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentPairing

// Admin routes that show and erase everything that is stored about a viewer.

extension AdminRouteBuilder {
  mutating func mountErasure() {
    on(.get, AdminPaths.viewerData(of: "{provider}")) { call throws(AdminError) in
      .document(try await call.viewerData())
    }
    on(.post, AdminPaths.erasure(of: "{provider}")) { call throws(AdminError) in .document(try await call.erase()) }
  }
}

extension AdminCall {
  /// The viewer that the request names.
  ///
  /// Neither provider nor account need exist: audit lines may name a viewer whose account was removed.
  private func viewer() throws(AdminError) -> Viewer {
    let name: AccountName = try identifier(parameter: "name", "account")
    return Viewer(provider: try identifier("provider", "provider"), account: name)
  }

  private var screen: ScreenHasher { { [core] in core.hasher.screen(of: $0) } }

  fileprivate func viewerData() async throws(AdminError) -> ViewerData {
    let viewer = try viewer()
    let (rows, lines) = try await stored { () throws(StoreError) in
      (try await core.store.rows(about: viewer, screen: screen), try await auditLines(about: viewer))
    }
    let (all, names) = try await stored { () throws(StoreError) in
      (try await core.screenNames(of: viewer), try await core.screenNames(of: rows.signIns))
    }
    guard !rows.isEmpty || !lines.isEmpty || !all.isEmpty else { throw .missing("account", viewer.title) }
    return ViewerData(of: viewer, rows, lines, names: { names[$0.authentication.id] }, all, at: now, for: role)
  }

  private func auditLines(about viewer: Viewer) async throws(StoreError) -> [NumberedAuditEntry] {
    var lines: [NumberedAuditEntry] = []
    while true {
      let page = try await core.store.auditLines(
        about: viewer, after: lines.last?.number ?? 0, limit: AdminPaths.page)
      lines += page
      if page.count < AdminPaths.page { return lines }
    }
  }

  /// Erases a viewer.
  ///
  /// The rows go first, in one transaction, so that no new lines about the viewer are written. The audit lines follow
  /// in steps. A second call continues an erasure that was interrupted.
  fileprivate func erase() async throws(AdminError) -> ErasedViewer {
    let viewer = try viewer()
    let name = core.hasher.pseudonym(of: viewer)
    let pseudonym = Viewer(provider: viewer.provider, account: name)
    var erased = ErasedViewer(pseudonym: pseudonym.title)
    let (names, gone) = try await stored { () throws(StoreError) in
      (
        try await core.screenNames(of: viewer),
        try await core.store.erase(viewer, screen: screen, audit: entry("account.erase", pseudonym.title), at: now)
      )
    }
    core.signInTransitions.settle(gone)
    try await refresh()
    try await stored { () throws(StoreError) in try await core.deleteScreenNames(of: viewer, at: now) }
    erased.take(gone.rows)
    erased.screenNames += names.count
    // A request that read the rows before they were deleted may write its audit line after its response. Wait for these
    // lines, up to five seconds, so that they get the pseudonym, too.
    for _ in 0..<50 where core.audit.linesUnderWay > 0 { try? await Task.sleep(for: .milliseconds(100)) }
    erased.auditLines += try await eraseDetails(of: viewer, pseudonym, gone.rows)
    var last: Int64 = 0
    while let step = try await stored({ () throws(StoreError) in
      try await core.store.pseudonymise(viewer, as: name, after: last, limit: AdminPaths.page) { [self] count in
        entry("audit.pseudonymise", pseudonym.title, detail: "in \(count) lines this pseudonym replaces the name")
      }
    }) {
      last = step.last
      erased.auditLines += step.count
    }
    if erased.isEmpty {
      let earlier = try await stored { () throws(StoreError) in
        try await core.store.auditLines(about: pseudonym, after: 0, limit: 1)
      }
      guard !earlier.isEmpty else { throw .missing("account", viewer.title) }
    }
    return erased
  }
}

extension AdminCall {
  /// Removes the details of audit lines that name a box of the viewer but not the viewer, such as `device.visitor`.
  ///
  /// Lines that name the viewer lead to earlier boxes, so this step comes before they get the pseudonym. A repeated
  /// erasure finds the boxes in lines with the pseudonym.
  ///
  /// - Returns: the number of changed lines.
  private func eraseDetails(
    of viewer: Viewer, _ pseudonym: Viewer, _ rows: ViewerRows
  ) async throws(AdminError) -> Int {
    var devices = Set((rows.signIns.map(\.deviceHash) + rows.codes.map(\.deviceHash)).map(\.shortName))
    for one in [viewer, pseudonym] {
      let lines = try await stored { () throws(StoreError) in try await auditLines(about: one) }
      for line in lines where line.entry.actor == .viewer(one) || line.entry.action == "code.approve" {
        devices.formUnion(line.entry.devices)
      }
    }
    var (changed, rest) = (0, Array(devices)[...])
    while !rest.isEmpty {
      // SQLite allows about 500 names in one condition.
      let some = Set(rest.prefix(200))
      rest = rest.dropFirst(200)
      var last: Int64 = 0
      while let step = try await stored({ [last] () throws(StoreError) in
        try await core.store.eraseDetails(ofDevices: some, after: last, limit: AdminPaths.page) { [self] count in
          entry(
            "audit.pseudonymise", pseudonym.title, detail: "in \(count) lines about its boxes the detail was removed")
        }
      }) {
        changed += step.count
        last = step.last
      }
    }
    return changed
  }
}

extension ErasedViewer {
  fileprivate mutating func take(_ rows: ViewerRows) {
    account = rows.account != nil
    rules = rows.rules.count
    sessions = rows.sessions.count
    signIns = rows.signIns.count
    permits = rows.permits.count
    grants = rows.grants.count
    boxes = rows.boxes.count
    decisions = rows.decisions.count
    screenNames = rows.screenNames.count
    codes = rows.codes.count
    failedSignIns = rows.failures.count
  }
}

extension ViewerData {
  fileprivate init(
    of viewer: Viewer, _ rows: ViewerRows, _ lines: [NumberedAuditEntry],
    names: (AuthenticationRecord) -> String?, _ screenNames: [String], at now: Instant,
    for role: AdminRole
  ) {
    var object: JSONObject = [
      "provider": .string(viewer.provider.text), "name": .string(viewer.account?.text ?? ""),
      "exported": .integer(now.milliseconds), "password": .bool(rows.hasPassword),
    ]
    object["account"] = rows.account?.json
    object["rules"] = .array(rows.rules.map(\.json))
    object["sessions"] = .array(rows.sessions.map { SessionEntry($0).json })
    object["signIns"] = .array(rows.signIns.map { Self.signIn($0, rows, name: names($0), for: role) })
    object["screenNames"] = .array(screenNames.map(JSONValue.string))
    object["codes"] = .array(
      rows.codes.map { record in
        var code = CodeEntry(record, at: now, for: role).object
        code.add(record.about)
        return .object(code)
      })
    object["decisions"] = .array(
      rows.decisions.map { one in
        [
          "device": .string(one.device.shortName), "app": .string(one.app), "requestor": .string(one.requestor.text),
          "decision": .string(AppDecision(one.isGranted).rawValue), "decided": .integer(one.decided.milliseconds),
        ]
      })
    object["failedSignIns"] = .array(
      rows.failures.map { one in
        [
          "network": one.source.map { .string(Self.network($0)) } ?? .null,
          "count": .integer(Int64(one.failures.count)), "last": .integer(one.failures.last.milliseconds),
        ]
      })
    object["audit"] = .array(lines.map { AuditLine($0).json })
    self.init(object)
  }

  /// The network of a stored source (``SourceKey/text``), such as `192.0.2.1` or `2001:db8:1:2::/64`.
  private static func network(_ source: String) -> String {
    guard let bits = UInt64(source.dropFirst(2), radix: 16) else { return source }
    guard source.hasPrefix("6:") else {
      return [24, 16, 8, 0].map { String(bits >> $0 & 0xFF) }.joined(separator: ".")
    }
    return [48, 32, 16, 0].map { String(bits >> $0 & 0xFFFF, radix: 16) }.joined(separator: ":") + "::/64"
  }

  /// A sign-in with everything that depends on it.
  private static func signIn(
    _ record: AuthenticationRecord, _ rows: ViewerRows, name: String?, for role: AdminRole
  ) -> JSONValue {
    let id = record.authentication.id
    var object = SignInEntry(record, name: name, for: role).object
    object.add(record.about)
    object["permits"] = .array(
      rows.permits.filter { $0.permit.authentication == id }.map { one in
        [
          "title": .string(one.permit.resource.text), "issued": .integer(one.permit.issued.milliseconds),
          "expires": .integer(one.permit.expires.milliseconds),
        ]
      })
    object["grants"] = .array(
      rows.grants.filter { $0.authentication == id }.map { one in
        [
          "id": .string(one.id.text), "client": .string(one.client.text), "scope": .string(one.scope),
          "created": .integer(one.created.milliseconds), "used": .integer(one.rotated.milliseconds),
          "expires": .integer(one.expires.milliseconds),
        ]
      })
    object["boxes"] = .array(
      rows.boxes.filter { $0.authentication == id }.map { one in
        ["id": .string(one.id.text), "enrolled": .integer(one.enrolled.milliseconds)]
      })
    return .object(object)
  }
}

extension JSONObject {
  /// Adds what the device said about itself, as far as lists leave it out.
  fileprivate mutating func add(_ about: DeviceDescription) {
    self["information"] = about.information.map(JSONValue.string)
    self["userAgent"] = about.userAgent.map(JSONValue.string)
    let older: KeyValuePairs<String, String?> = [
      "deviceType": about.older.deviceType, "deviceUser": about.older.deviceUser, "appId": about.older.appID,
      "appVersion": about.older.appVersion, "registrationURL": about.older.registrationURL,
    ]
    for (name, text) in older { self[name] = text.map(JSONValue.string) }
  }
}
