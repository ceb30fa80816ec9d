import PairingStore
import RegentPairing

extension PlantedStore {
  func put(
    _ client: OAuthClientRecord, replacing seen: OAuthClientRecord?, limit: Int, audit entry: AuditEntry?,
    at now: Instant
  ) async throws(StoreError) {
    try await base.put(client, replacing: seen, limit: limit, audit: entry, at: now)
  }

  func oauthClient(_ id: ClientID) async throws(StoreError) -> OAuthClientRecord? {
    try await base.oauthClient(id)
  }

  func oauthClients(of requestor: RequestorID?, after id: ClientID?, limit: Int)
    async throws(StoreError) -> [OAuthClientRecord]
  {
    try await base.oauthClients(of: requestor, after: id, limit: limit)
  }

  func removeOAuthClient(_ id: ClientID, audit entry: AuditEntry?, at now: Instant) async throws(StoreError)
    -> [AuthenticationRecord]
  {
    try await base.removeOAuthClient(id, audit: entry, at: now)
  }

  func keep(_ grant: GrantRecord, at now: Instant) async throws(StoreError) -> GrantRecord {
    try await base.keep(grant, at: now)
  }

  func rotate(_ grant: GrantRecord, at now: Instant) async throws(StoreError) -> GrantRecord {
    try await base.rotate(grant, at: now)
  }

  func grant(_ id: GrantID, at now: Instant) async throws(StoreError) -> StandingGrant? {
    try await base.grant(id, at: now)
  }

  func grants(_ filter: GrantFilter, after id: GrantID?, limit: Int, at now: Instant) async throws(StoreError)
    -> [GrantRecord]
  {
    try await base.grants(filter, after: id, limit: limit, at: now)
  }

  func endGrants(_ filter: GrantFilter, audit entry: AuditEntry?, at now: Instant) async throws(StoreError)
    -> [AuthenticationRecord]
  {
    try await base.endGrants(filter, audit: entry, at: now)
  }
}
