internal import Administration
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentPairing
internal import PairingStore

// Admin routes for key pairs and software statements of a requestor.

extension AdminRouteBuilder {
  mutating func mountKeys() {
    let all = AdminPaths.keys(of: "{requestor}")
    on(.get, all) { call throws(AdminError) in
      let requestor = try call.requestor().id
      let pairs = call.core.provisioning.now.records.keyPairs.values.filter {
        $0.requestor == requestor
      }
      let sorted = pairs.sorted { ($0.created, $0.publicKey) < ($1.created, $1.publicKey) }
      return .list(of: sorted.map(call.listed))
    }
    on(.post, all) { call throws(AdminError) in
      let (pair, secret) = try await call.addKey(.calls, to: try call.requestor().id)
      return .document(IssuedKey(publicKey: pair.publicKey, secret: secret))
    }
    on(.get, AdminPaths.one(AdminPaths.keys, "{key}")) { call throws(AdminError) in
      .document(call.listed(try call.pair()))
    }
    on(.post, AdminPaths.act(AdminPaths.keys, "{key}", "retire")) { call throws(AdminError) in
      .document(try await call.retireKey())
    }
    on(.post, AdminPaths.act(AdminPaths.keys, "{key}", "revoke")) { call throws(AdminError) in
      .document(try await call.revokeKey())
    }
  }

  mutating func mountStatements() {
    on(.get, AdminPaths.statements) { call throws(AdminError) in
      let all = call.core.provisioning.now.records.applications.values
      let sorted = all.sorted { ($0.issued, $0.id) < ($1.issued, $1.id) }
      return .list(of: sorted.map(StatementEntry.init))
    }
    on(.get, AdminPaths.one(AdminPaths.statements, "{statement}")) { call throws(AdminError) in
      .document(StatementEntry(try call.statement()))
    }
    on(.post, AdminPaths.statements(of: "{requestor}")) { call throws(AdminError) in
      .document(try await call.issueStatement())
    }
    on(.post, AdminPaths.act(AdminPaths.statements, "{statement}", "revoke")) {
      call throws(AdminError) in .document(try await call.revokeStatement())
    }
  }
}

// MARK: - Key pairs

extension AdminCall {
  /// Creates the key pair that signs the requestor's database rows, unless the requestor has one.
  func ensureRowKey(of requestor: RequestorID) async throws(AdminError) {
    guard core.provisioning.now.rowKey(of: requestor) == nil else { return }
    _ = try await addKey(.rows, to: requestor)
  }

  fileprivate func addKey(_ purpose: KeyPair.Purpose, to requestor: RequestorID)
    async throws(AdminError) -> (pair: KeyPair, secret: String)
  {
    guard let pair = KeyPair.drawn(for: requestor, purpose, at: now) else {
      throw AdminError(.failed, "the service could not create a key", hint: "run the command again")
    }
    let line = entry("key.issue", pair.publicKey.text, detail: "\(requestor) \(purpose.rawValue)")
    try await stored { () throws(StoreError) in
      try await core.store.add(pair, audit: line, at: now)
    }
    try await refresh()
    return (pair, String(decoding: pair.secret.bytes, as: UTF8.self))
  }

  fileprivate func pair() throws(AdminError) -> KeyPair {
    try lookUp("key", text("key"), among: core.provisioning.now.records.keyPairs.values) {
      $0.publicKey.text
    }
  }

  fileprivate func retireKey() async throws(AdminError) -> KeyPairEntry {
    let pair = try pair()
    guard pair.state != .revoked else {
      throw AdminError(.refused, "key \(pair.publicKey) is already revoked")
    }
    if pair.state == .active {
      if pair.purpose == .rows {
        // Adding the new pair retires the earlier ones in the same transaction, so an active pair exists at every
        // moment.
        _ = try await addKey(.rows, to: pair.requestor)
      }
      try await setState(of: pair, to: .retired, "key.retire")
    }
    return listed(pair.with(.retired))
  }

  fileprivate func revokeKey() async throws(AdminError) -> KeyPairEntry {
    let pair = try pair()
    let request = optionalBody
    let withRows =
      try shaped { () throws(JSONShapeError) in try request.optionalBool("rows") } ?? false
    if withRows || pair.purpose == .rows {
      try await revokeRows(of: pair)
    }
    if pair.purpose == .calls { try await setState(of: pair, to: .revoked, "key.revoke") }
    return listed(pair.with(.revoked))
  }

  /// Invalidates database rows after an operator has revoked a key pair with `rows`.
  ///
  /// For a pair that signs requests (`calls`), all rows of the requestor become invalid. For a pair that signs rows,
  /// only the rows that it signed do.
  private func revokeRows(of pair: KeyPair) async throws(AdminError) {
    let requestor = pair.requestor
    try await withdrawCodes(of: requestor)
    let doomed = core.provisioning.now.records.keyPairs.values.filter { other in
      other.requestor == requestor && other.purpose == .rows && other.state != .revoked
        && (pair.purpose == .calls || other.publicKey == pair.publicKey)
    }
    if doomed.contains(where: { $0.state == .active }) {
      _ = try await addKey(.rows, to: requestor)
    }
    for other in doomed { try await setState(of: other, to: .revoked, "key.revoke") }
  }

  private func setState(of pair: KeyPair, to state: KeyPair.State, _ action: String)
    async throws(AdminError)
  {
    let line = entry(action, pair.publicKey.text, detail: pair.requestor.text)
    try await stored { () throws(StoreError) in
      try await core.store.setState(of: pair.publicKey, to: state, audit: line, at: now)
    }
    try await refresh()
  }
}

extension AdminCall {
  fileprivate func listed(_ pair: KeyPair) -> KeyPairEntry {
    var entry = KeyPairEntry(
      publicKey: pair.publicKey, requestor: pair.requestor, purpose: pair.purpose.rawValue,
      state: pair.state.rawValue, created: pair.created)
    entry.lastUsed = core.keyUses.of(pair.publicKey)
    return entry
  }
}

// MARK: - Software statements

extension AdminCall {
  fileprivate func issueStatement() async throws(AdminError) -> IssuedStatement {
    let requestor = try requestor().id
    let request = try body
    let name = try shaped { () throws(JSONShapeError) in try request.string("application") }
    guard (1...200).contains(name.utf8.count), AccountName(name) != nil else {
      throw AdminError(
        .invalid, "the application's name must be 1 to 200 bytes without control characters")
    }
    let application = ApplicationRecord(
      id: try newIdentifier(), requestor: requestor, name: name, issued: now)
    let text = try await core.softwareStatement(for: application)
    let line = entry("statement.issue", application.id.text, detail: requestor.text)
    _ = try await stored { () throws(StoreError) in
      try await core.store.put(.application(application), replacing: nil, audit: line, at: now)
    }
    try await refresh()
    return IssuedStatement(id: application.id, softwareStatement: text)
  }

  fileprivate func statement() throws(AdminError) -> ApplicationRecord {
    try lookUp("statement", text("statement"), among: core.provisioning.now.records.applications.values) {
      $0.id.text
    }
  }

  fileprivate func revokeStatement() async throws(AdminError) -> StatementEntry {
    let there = try statement()
    guard !there.isRevoked else { return StatementEntry(there) }
    var revoked = there
    revoked.isRevoked = true
    let line = entry("statement.revoke", there.id.text, detail: there.requestor.text)
    let record = Provision.application(revoked)
    _ = try await stored { () throws(StoreError) in
      try await core.store.put(record, replacing: .application(there), audit: line, at: now)
    }
    try await refresh()
    try await stored { () throws(StoreError) in
      try await core.signInTransitions.withdrawCodesOfEndedClients()
    }
    return StatementEntry(revoked)
  }
}

extension StatementEntry {
  fileprivate init(_ application: ApplicationRecord) {
    self.init(
      id: application.id, requestor: application.requestor, application: application.name,
      issued: application.issued, revoked: application.isRevoked)
  }
}
