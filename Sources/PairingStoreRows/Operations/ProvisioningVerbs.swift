public import RegentPairing
public import PairingStore
import RegentSQL

extension RowStore {
  public func provisioning() async throws(StoreError) -> Provisioning {
    try await read { context, rows in
      var all = Provisioning()
      for one in try rows.all(context, Tables.requestors, "\(all: Tables.requestors)") {
        all.requestors[one.record.id] = one.record
      }
      for one in try rows.all(context, Tables.providers, "\(all: Tables.providers)") {
        all.providers[one.record.id] = one.record
      }
      for one in try rows.all(context, Tables.integrations, "\(all: Tables.integrations)") {
        all.integrations[one.record.requestor, default: [:]][one.record.provider] = one.record
      }
      // Rules are read in the order in which operators added them, because that is the order of evaluation.
      for one in try rows.all(
        context, Tables.entitlements, "\(all: Tables.entitlements) ORDER BY rowid")
      {
        all.entitlements[one.record.provider, default: []].append(one.record)
      }
      for one in try rows.all(context, Tables.applications, "\(all: Tables.applications)") {
        all.applications[one.record.id] = one.record
      }
      for one in try rows.all(context, Tables.keyPairs, "\(all: Tables.keyPairs)") {
        all.keyPairs[one.record.publicKey] = one.record
      }
      return all
    }
  }

  public func account(_ provider: ProviderID, _ name: AccountName) async throws(StoreError)
    -> Account?
  {
    try await read { context, rows in try rows.account(context, provider, name) }
  }

  public func accounts(_ provider: ProviderID, after name: AccountName?, limit: Int)
    async throws(StoreError) -> [Account]
  {
    try await read { context, rows in
      try rows.first(
        limit, context, Tables.accounts,
        """
        \(all: Tables.accounts) WHERE provider = \(provider.text) AND name > \(name?.text ?? "")
        ORDER BY name
        """)
    }
  }

  public func put(
    _ record: Provision, replacing seen: Provision?, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> [RegistrationChange] {
    try await write(mayUseReserve: true) { context, rows in
      try rows.replace(context, seen, with: record, audit: entry, at: now)
    }
  }

  public func setPassword(
    _ phc: String, of name: AccountName, at provider: ProviderID, by whom: PasswordSetter,
    audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> [RegistrationChange] {
    try await write(mayUseReserve: true) { context, rows in
      guard try rows.account(context, provider, name) != nil else {
        throw StoreError.notFound(what: "account")
      }
      let viewer = Viewer(provider: provider, account: name)
      var kept: SessionID?
      if case .viewer(let session, let proved) = whom {
        guard try rows.liveSession(context, session, at: now).record.viewer == viewer else {
          throw StoreError.sessionEnded
        }
        try rows.requireStillPassword(context, proved, of: viewer)
        kept = session
      }
      try rows.keep(
        context, Tables.passwords, PasswordRecord(provider: provider, name: name, phc: phc))
      try rows.note(context, entry)
      let others = try rows.sessions(context, of: viewer).filter { $0.id != kept }
      return try rows.endSessions(context, others, at: now)
    }
  }

  public func renewPassword(
    _ phc: String, replacing seen: String, of name: AccountName, at provider: ProviderID
  ) async throws(StoreError) {
    try await write(mayUseReserve: true) { context, rows in
      guard try rows.password(context, of: name, at: provider) == seen else { return }
      try rows.keep(
        context, Tables.passwords, PasswordRecord(provider: provider, name: name, phc: phc))
    }
  }

  public func passwordForms(_ form: @escaping @Sendable (String) -> String?)
    async throws(StoreError) -> [ProviderID: Set<String>]
  {
    try await read { context, _ in
      var found: [ProviderID: Set<String>] = [:]
      // The rows are not verified, because verifying a hundred thousand rows would take most of the time of a start. A
      // forged row gives no access. It can only slow down sign-ins at that provider, within the cost limit of a
      // password-hash format.
      try context.each("SELECT provider, phc FROM password") { row in
        // A row with invalid text is skipped. Skipping it gives no access either.
        guard let provider = (try? row.text(0)).flatMap({ ProviderID($0) }),
          let name = (try? row.text(1)).flatMap(form),
          found[provider, default: []].count < mostPasswordForms
        else { return }
        found[provider, default: []].insert(name)
      }
      return found
    }
  }

  public func password(of name: AccountName, at provider: ProviderID) async throws(StoreError)
    -> String?
  {
    try await read { context, rows in try rows.password(context, of: name, at: provider) }
  }

  public func register(_ client: ClientRecord, at now: Instant) async throws(StoreError) {
    try await write { context, rows in
      guard let application = try rows.application(context, client.application),
        !application.isRevoked, application.requestor == client.requestor
      else { throw StoreError.notFound(what: "application") }
      try rows.keep(context, Tables.clients, client)
    }
  }

  public func client(_ id: ClientID) async throws(StoreError) -> ClientRecord? {
    try await read { context, rows in
      let client = try rows.one(
        context, Tables.clients, Tables.clients.row(id.text))?.record
      guard let client,
        try rows.application(context, client.application)?.isRevoked == false
      else { return nil }
      return client
    }
  }
}

extension SignedRows {
  /// Writes a record, if the stored record equals `seen`; throws `changedMeanwhile` otherwise.
  func replace(
    _ context: borrowing WriteContext, _ seen: Provision?, with record: Provision, audit entry: AuditEntry?,
    at now: Instant
  ) throws -> [RegistrationChange] {
    guard try provision(context, record.id) == seen else {
      throw StoreError.changedMeanwhile(what: record.id.kind)
    }
    try checkReferences(context, of: record)
    try keep(context, record)
    try note(context, entry)
    guard case .account(let account) = record else {
      context.changed(.provisioning)
      return []
    }
    guard account.isDisabled else { return [] }
    let viewer = Viewer(provider: account.provider, account: account.name)
    return try endSessions(context, sessions(context, of: viewer), at: now)
  }

  /// Writes a record over the stored one with the same key, or as a new row.
  func keep<Record>(
    _ context: borrowing WriteContext, _ table: Table<Record>, _ record: Record
  ) throws {
    let values = table.encode(record, vault)
    let stored = try one(context, table, "\(all: table) WHERE \(keyOf: values, in: table)")
    try put(context, table, record, over: stored)
  }

  fileprivate func keep(_ context: borrowing WriteContext, _ record: Provision) throws {
    switch record {
    case .requestor(let one): try keep(context, Tables.requestors, one)
    case .provider(let one): try keep(context, Tables.providers, one)
    case .integration(let one): try keep(context, Tables.integrations, one)
    case .account(let one): try keep(context, Tables.accounts, one)
    case .entitlement(let one): try keep(context, Tables.entitlements, one)
    case .application(let one): try keep(context, Tables.applications, one)
    }
  }

  func application<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ id: StatementID
  ) throws -> ApplicationRecord? {
    try one(context, Tables.applications, Tables.applications.row(id.text))?
      .record
  }

  func requestor<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ id: RequestorID
  ) throws -> Requestor? {
    try one(context, Tables.requestors, Tables.requestors.row(id.text))?.record
  }

  func provision(_ context: borrowing WriteContext, _ id: ProvisionID) throws -> Provision? {
    switch id {
    case .requestor(let id): try requestor(context, id).map(Provision.requestor)
    case .provider(let id): try provider(context, id).map(Provision.provider)
    case .integration(let requestor, let provider):
      try one(
        context, Tables.integrations, Tables.integrations.row(requestor.text, provider.text)
      ).map { .integration($0.record) }
    case .account(let provider, let name):
      try account(context, provider, name).map(Provision.account)
    case .entitlement(let id):
      try one(context, Tables.entitlements, Tables.entitlements.row(id.text))
        .map { .entitlement($0.record) }
    case .application(let id): try application(context, id).map(Provision.application)
    }
  }

  fileprivate func checkReferences(
    _ context: borrowing WriteContext, of record: Provision
  ) throws {
    let owner: RequestorID?
    let place: ProviderID?
    switch record {
    case .requestor, .provider: (owner, place) = (nil, nil)
    case .integration(let one): (owner, place) = (one.requestor, one.provider)
    case .account(let one): (owner, place) = (nil, one.provider)
    case .entitlement(let one): (owner, place) = (nil, one.provider)
    case .application(let one): (owner, place) = (one.requestor, nil)
    }
    if let owner, try requestor(context, owner) == nil {
      throw StoreError.notFound(what: "requestor")
    }
    if let place, try provider(context, place) == nil {
      throw StoreError.notFound(what: "provider")
    }
  }
}
