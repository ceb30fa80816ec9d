import PairingStore
import RegentPairing

extension PlantedStore {
  var standingMark: UInt64? { base.standingMark }

  func put(
    _ client: OAuthClientRecord, replacing seen: OAuthClientRecord?, in room: ClientRoom, audit entry: AuditEntry?,
    at now: Instant
  ) async throws(StoreError) {
    try await base.put(client, replacing: seen, in: room, audit: entry, at: now)
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

  func rotate(_ grant: GrantRecord, seen: GrantSight?, at now: Instant) async throws(StoreError) -> GrantRecord {
    try await base.rotate(grant, seen: seen, at: now)
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

  func invite(_ invitation: ClientInvitationRecord, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)
  {
    try await base.invite(invitation, audit: entry, at: now)
  }

  func clientInvitation(_ token: TokenHash, at now: Instant) async throws(StoreError) -> ClientInvitationRecord? {
    try await base.clientInvitation(token, at: now)
  }

  func clientInvitations(at now: Instant) async throws(StoreError) -> [ClientInvitationRecord] {
    try await base.clientInvitations(at: now)
  }

  func register(
    _ client: OAuthClientRecord, invitedBy token: TokenHash, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) {
    try await base.register(client, invitedBy: token, audit: entry, at: now)
  }

  func revokeClientInvitation(_ id: EnrolmentID, audit entry: AuditEntry?, at now: Instant) async throws(StoreError) {
    try await base.revokeClientInvitation(id, audit: entry, at: now)
  }
}
