public import PairingStore
public import RegentPairing

extension MemoryStore {
  public func provisioning() async throws(StoreError) -> Provisioning { records }

  public func account(_ provider: ProviderID, _ name: AccountName) async throws(StoreError)
    -> Account?
  {
    find(name, at: provider)
  }

  public func accounts(_ provider: ProviderID, after name: AccountName?, limit: Int)
    async throws(StoreError) -> [Account]
  {
    let after = (accounts[provider] ?? [:]).values.filter { account in
      name.map { $0 < account.name } ?? true
    }
    return Array(after.sorted { $0.name < $1.name }.prefix(limit))
  }

  public func put(
    _ record: Provision, replacing seen: Provision?, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> [RegistrationChange] {
    guard provision(record.id) == seen else { throw .changedMeanwhile(what: record.id.kind) }
    try checkReferences(of: record)
    write(record)
    note(entry)
    guard case .account(let account) = record, account.isDisabled else { return [] }
    return endSessions(at: now) {
      $0.viewer == Viewer(provider: account.provider, account: account.name)
    }
  }

  private func provision(_ id: ProvisionID) -> Provision? {
    switch id {
    case .requestor(let id): records.requestors[id].map(Provision.requestor)
    case .provider(let id): records.providers[id].map(Provision.provider)
    case .integration(let requestor, let provider):
      records.integrations[requestor]?[provider].map(Provision.integration)
    case .account(let provider, let name):
      accounts[provider]?[name].map(Provision.account)
    case .entitlement(let id):
      records.entitlements.values.joined().first { $0.id == id }.map(Provision.entitlement)
    case .application(let id): records.applications[id].map(Provision.application)
    }
  }

  private func checkReferences(of record: Provision) throws(StoreError) {
    let requestor: RequestorID?
    let provider: ProviderID?
    switch record {
    case .requestor, .provider: (requestor, provider) = (nil, nil)
    case .integration(let one): (requestor, provider) = (one.requestor, one.provider)
    case .account(let one): (requestor, provider) = (nil, one.provider)
    case .entitlement(let one): (requestor, provider) = (nil, one.provider)
    case .application(let one): (requestor, provider) = (one.requestor, nil)
    }
    if let requestor, records.requestors[requestor] == nil { throw .notFound(what: "requestor") }
    if let provider, records.providers[provider] == nil { throw .notFound(what: "provider") }
  }

  private func write(_ record: Provision) {
    switch record {
    case .requestor(let one): records.requestors[one.id] = one
    case .provider(let one): records.providers[one.id] = one
    case .integration(let one):
      records.integrations[one.requestor, default: [:]][one.provider] = one
    case .account(let one): accounts[one.provider, default: [:]][one.name] = one
    case .entitlement(let one):
      for provider in records.entitlements.keys {
        records.entitlements[provider]?.removeAll { $0.id == one.id }
      }
      records.entitlements[one.provider, default: []].append(one)
    case .application(let one): records.applications[one.id] = one
    }
  }

  public func remove(_ id: ProvisionID, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> [RegistrationChange]
  {
    guard provision(id) != nil else { throw .notFound(what: id.kind) }
    note(entry)
    switch id {
    case .requestor(let requestor):
      removeRequestor(requestor)
      return []
    case .provider(let provider): return removeProvider(provider, at: now)
    case .integration(let requestor, let provider):
      records.integrations[requestor]?[provider] = nil
      _ = endAuthentications {
        $0.authentication.requestor == requestor && $0.authentication.viewer.provider == provider
      }
      return []
    case .account(let provider, let name): return removeAccount(provider, name, at: now)
    case .entitlement(let rule):
      for provider in records.entitlements.keys {
        records.entitlements[provider]?.removeAll { $0.id == rule }
      }
      return []
    case .application(let application):
      records.applications[application] = nil
      clients = clients.filter { $0.value.application != application }
      let gone = Set(oauthClients.values.filter { $0.application == application }.map(\.id))
      let ended = Set(grants.values.filter { gone.contains($0.client) }.map(\.authentication))
      _ = endAuthentications { ended.contains($0.authentication.id) }
      oauthClients = oauthClients.filter { $0.value.application != application }
      return []
    }
  }

  private func removeRequestor(_ id: RequestorID) {
    records.requestors[id] = nil
    records.integrations[id] = nil
    records.applications = records.applications.filter { $0.value.requestor != id }
    records.keyPairs = records.keyPairs.filter { $0.value.requestor != id }
    clients = clients.filter { $0.value.requestor != id }
    permissions.removeAll { $0.requestor == id }
    oauthClients = oauthClients.filter { $0.value.requestor != id }
    for record in registrations.values where record.requestor == id {
      registrations[record.id] = nil
      codes[record.code] = nil
    }
    enrolments = enrolments.filter { $0.value.requestor != id }
    clientInvitations = clientInvitations.filter { $0.value.requestor != id }
    passes = passes.filter { $0.key.requestor != id }
    _ = endAuthentications { $0.authentication.requestor == id }
  }

  private func removeProvider(_ id: ProviderID, at now: Instant) -> [RegistrationChange] {
    records.providers[id] = nil
    records.entitlements[id] = nil
    for requestor in records.integrations.keys { records.integrations[requestor]?[id] = nil }
    accounts[id] = nil
    passwords[id] = nil
    passes = passes.filter { $0.key.provider != id }
    _ = endAuthentications { $0.authentication.viewer.provider == id }
    return endSessions(at: now) { $0.viewer.provider == id }
  }

  func removeAccount(_ provider: ProviderID, _ name: AccountName, at now: Instant)
    -> [RegistrationChange]
  {
    let viewer = Viewer(provider: provider, account: name)
    accounts[provider]?[name] = nil
    passwords[provider]?[name] = nil
    records.entitlements[provider]?.removeAll { $0.scope == .account(name) }
    _ = endAuthentications { $0.authentication.viewer == viewer }
    return endSessions(at: now) { $0.viewer == viewer }
  }

  public func setPassword(
    _ phc: String, of name: AccountName, at provider: ProviderID, by whom: PasswordSetter,
    audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> [RegistrationChange] {
    guard accounts[provider]?[name] != nil else { throw .notFound(what: "account") }
    let viewer = Viewer(provider: provider, account: name)
    var kept: SessionID?
    if case .viewer(let session, let proved) = whom {
      guard try liveSession(session, at: now).viewer == viewer else { throw .sessionEnded }
      try requireStillPassword(proved, of: viewer)
      kept = session
    }
    passwords[provider, default: [:]][name] = phc
    note(entry)
    return endSessions(at: now) { $0.viewer == viewer && $0.id != kept }
  }

  func requireStillPassword(_ proved: String?, of viewer: Viewer) throws(StoreError) {
    guard let proved, let name = viewer.account else { return }
    guard passwords[viewer.provider]?[name] == proved else { throw .changedMeanwhile(what: "password") }
  }

  public func renewPassword(
    _ phc: String, replacing seen: String, of name: AccountName, at provider: ProviderID
  ) async throws(StoreError) {
    guard passwords[provider]?[name] == seen else { return }
    passwords[provider]?[name] = phc
  }

  public func putAccounts(_ writes: [AccountWrite], at now: Instant) async throws(StoreError) -> [RegistrationChange] {
    var seen: [ProvisionID: Account] = [:]
    for write in writes {
      let id = Provision.account(write.account).id
      guard (seen[id] ?? accounts[write.account.provider]?[write.account.name]) == write.seen else {
        throw .changedMeanwhile(what: id.kind)
      }
      guard records.providers[write.account.provider] != nil else { throw .notFound(what: "provider") }
      seen[id] = write.account
    }
    var changes: [RegistrationChange] = []
    for write in writes {
      let account = write.account
      changes += try await put(
        .account(account), replacing: write.seen.map(Provision.account), audit: write.entry, at: now)
      if let phc = write.firstPassword, passwords[account.provider]?[account.name] == nil {
        passwords[account.provider, default: [:]][account.name] = phc
      }
    }
    return changes
  }

  public func passwordForms(_ form: @escaping @Sendable (String) -> String?)
    async throws(StoreError) -> [ProviderID: Set<String>]
  {
    passwords.mapValues { Set($0.values.compactMap(form).prefix(mostPasswordForms)) }
  }

  public func password(of name: AccountName, at provider: ProviderID) async throws(StoreError)
    -> String?
  {
    passwords[provider]?[name]
  }

  public func register(_ client: ClientRecord, at now: Instant) async throws(StoreError) {
    guard let application = records.applications[client.application], !application.isRevoked,
      application.requestor == client.requestor
    else { throw .notFound(what: "application") }
    clients[client.id] = client
  }

  public func client(_ id: ClientID) async throws(StoreError) -> ClientRecord? {
    guard let client = clients[id], records.applications[client.application]?.isRevoked == false
    else { return nil }
    return client
  }
}
