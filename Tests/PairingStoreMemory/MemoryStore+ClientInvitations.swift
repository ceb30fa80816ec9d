public import PairingStore
public import RegentPairing

extension MemoryStore {
  public func invite(_ invitation: ClientInvitationRecord, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)
  {
    guard records.requestors[invitation.requestor] != nil else { throw .notFound(what: "requestor") }
    if let there = clientInvitations[invitation.id] {
      guard there == invitation else { throw .codeTaken }
      return
    }
    let others = clientInvitations.values.filter { $0.requestor == invitation.requestor && $0.isValid(at: now) }
    guard others.count < ClientInvitationRecord.mostOfRequestor else {
      throw .tooManyLiveCodes(limit: ClientInvitationRecord.mostOfRequestor)
    }
    clientInvitations[invitation.id] = invitation
    note(entry)
  }

  public func clientInvitation(_ token: TokenHash, at now: Instant)
    async throws(StoreError) -> ClientInvitationRecord?
  {
    invitation(token, at: now)
  }

  private func invitation(_ token: TokenHash, at now: Instant) -> ClientInvitationRecord? {
    clientInvitations.values.first { $0.token == token && $0.isValid(at: now) }
  }

  public func clientInvitations(at now: Instant) async throws(StoreError) -> [ClientInvitationRecord] {
    clientInvitations.values.filter { $0.isValid(at: now) }.sorted { ($0.created, $0.id) < ($1.created, $1.id) }
  }

  public func register(
    _ client: OAuthClientRecord, invitedBy token: TokenHash, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) {
    let there = oauthClients[client.id]
    if there == client { return }
    guard there == nil, let invitation = invitation(token, at: now),
      invitation.requestor == client.requestor
    else { throw ClientInvitationRecord.missing }
    clientInvitations[invitation.id]?.used += 1
    oauthClients[client.id] = client
    note(entry)
  }

  public func revokeClientInvitation(_ id: EnrolmentID, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)
  {
    guard clientInvitations.removeValue(forKey: id) != nil else { throw ClientInvitationRecord.missing }
    note(entry)
  }
}
