public import PairingStore
public import RegentPairing

extension MemoryStore {
  public func put(
    _ client: OAuthClientRecord, replacing seen: OAuthClientRecord?, in room: ClientRoom, audit entry: AuditEntry?,
    at now: Instant
  ) async throws(StoreError) {
    guard records.requestors[client.requestor] != nil else { throw .notFound(what: "requestor") }
    guard isHonoured(client) else { throw .notFound(what: "application") }
    let there = oauthClients[client.id]
    if there == client { return }
    guard there == seen else { throw .changedMeanwhile(what: "client") }
    let same = oauthClients.values.filter { $0.requestor == client.requestor && $0.origin == client.origin }
    if there == nil, same.count >= room.most {
      let forgotten = same.filter { room.mayForget($0, at: now) }.min { $0.created < $1.created }
      guard let forgotten else { throw .tooManyClients(limit: room.most) }
      oauthClients[forgotten.id] = nil
    }
    oauthClients[client.id] = client
    note(entry)
  }

  public func oauthClient(_ id: ClientID) async throws(StoreError) -> OAuthClientRecord? {
    oauthClients[id].flatMap { isHonoured($0) ? $0 : nil }
  }

  public func oauthClients(of requestor: RequestorID?, after id: ClientID?, limit: Int)
    async throws(StoreError) -> [OAuthClientRecord]
  {
    let meant = oauthClients.values.filter { client in
      client.requestor == requestor ?? client.requestor && id.map { $0 < client.id } ?? true
    }
    return Array(meant.sorted { $0.id < $1.id }.prefix(limit))
  }

  public func removeOAuthClient(_ id: ClientID, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> [AuthenticationRecord]
  {
    guard oauthClients[id] != nil else { throw .notFound(what: "client") }
    let ended = endGrants(GrantFilter(client: id))
    oauthClients[id] = nil
    note(entry)
    return ended
  }

  public func keep(_ grant: GrantRecord, at now: Instant) async throws(StoreError) -> GrantRecord {
    guard let signIn = try standingNow(grant.authentication, at: now) else {
      throw .notFound(what: "authentication")
    }
    guard let client = oauthClients[grant.client], client.requestor == signIn.authentication.requestor,
      isHonoured(client)
    else { throw .notFound(what: "client") }
    if let earlier = grants.values.first(where: { $0.authentication == grant.authentication }) { return earlier }
    grants[grant.id] = grant
    oauthClients[client.id]?.paired = client.paired ?? now
    return grant
  }

  public func rotate(_ grant: GrantRecord, at now: Instant) async throws(StoreError) -> GrantRecord {
    guard let stored = try standingNow(grant.id, at: now)?.grant else { throw .notFound(what: "grant") }
    guard stored.generation == grant.generation - 1 else { return stored }
    grants[grant.id] = grant
    return grant
  }

  public func prolong(_ grant: GrantRecord, at now: Instant) async throws(StoreError) {
    guard let stored = grants[grant.id], stored.isValid(at: now), stored.generation == grant.generation,
      stored.idle < grant.idle
    else { return }
    grants[grant.id]?.idle = grant.idle
  }

  public func grant(_ id: GrantID, at now: Instant) async throws(StoreError) -> ValidGrant? {
    try standingNow(id, at: now)
  }

  private func standingNow(_ id: GrantID, at now: Instant) throws(StoreError) -> ValidGrant? {
    guard let grant = grants[id], grant.isValid(at: now), let client = oauthClients[grant.client],
      isHonoured(client), let signIn = try standingNow(grant.authentication, at: now)
    else { return nil }
    return ValidGrant(grant: grant, client: client, signIn: signIn)
  }

  public func grants(_ filter: GrantFilter, after id: GrantID?, limit: Int, at now: Instant)
    async throws(StoreError) -> [GrantRecord]
  {
    let meant = grants.values.filter { grant in
      filter.includes(grant) && grant.isValid(at: now) && id.map { $0 < grant.id } ?? true
    }
    return Array(meant.sorted { $0.id < $1.id }.prefix(limit))
  }

  public func endGrants(_ filter: GrantFilter, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> [AuthenticationRecord]
  {
    note(entry)
    return endGrants(filter)
  }

  private func endGrants(_ filter: GrantFilter) -> [AuthenticationRecord] {
    let ended = Set(grants.values.filter(filter.includes).map(\.authentication))
    grants = grants.filter { !filter.includes($0.value) }
    return endAuthentications { ended.contains($0.authentication.id) }
  }

  /// Whether the OAuth client that asked for a code still exists.
  ///
  /// True for codes that no OAuth client asked for.
  func hasClient(_ record: RegistrationRecord) -> Bool {
    guard let asked = record.about.asked else { return true }
    return oauthClients[asked.client].map(isHonoured) ?? false
  }

  private func isHonoured(_ client: OAuthClientRecord) -> Bool {
    guard let id = client.application else { return true }
    guard let application = records.applications[id] else { return false }
    return !application.isRevoked && application.requestor == client.requestor
  }
}
