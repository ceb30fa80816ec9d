public import PairingStore
public import RegentPairing
import RegentSQL

extension RowStore {
  public func invite(_ invitation: ClientInvitationRecord, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)
  {
    try await write(mayUseReserve: true) { context, rows in
      guard try rows.requestor(context, invitation.requestor) != nil else {
        throw StoreError.notFound(what: "requestor")
      }
      let table = Tables.clientInvitations
      if let there = try rows.one(context, table, table.row(invitation.id.text))?.record {
        guard there == invitation else { throw StoreError.codeTaken }
        return
      }
      let others = try rows.all(context, table, "\(all: table) WHERE requestor = \(invitation.requestor.text)")
      guard others.count(where: { $0.record.isValid(at: now) }) < ClientInvitationRecord.mostOfRequestor else {
        throw StoreError.tooManyLiveCodes(limit: ClientInvitationRecord.mostOfRequestor)
      }
      try rows.insert(context, table, invitation)
      try rows.note(context, entry)
    }
  }

  public func clientInvitation(_ token: TokenHash, at now: Instant)
    async throws(StoreError) -> ClientInvitationRecord?
  {
    try await read { context, rows in try rows.invitation(context, token, at: now)?.record }
  }

  public func clientInvitations(at now: Instant) async throws(StoreError) -> [ClientInvitationRecord] {
    try await read { context, rows in
      let table = Tables.clientInvitations
      return try rows.all(context, table, "\(all: table) ORDER BY created, id").map(\.record)
        .filter { $0.isValid(at: now) }
    }
  }

  public func register(
    _ client: OAuthClientRecord, invitedBy token: TokenHash, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) {
    try await write { context, rows in
      // The client has been stored already, if this call repeats one whose outcome was unknown.
      let there = try rows.one(context, Tables.oauthClients, Tables.oauthClients.row(client.id.text))
      if there?.record == client { return }
      guard there == nil, let invitation = try rows.invitation(context, token, at: now),
        invitation.record.requestor == client.requestor, try rows.requestor(context, client.requestor) != nil
      else { throw ClientInvitationRecord.missing }
      try rows.update(
        context, Tables.clientInvitations, invitation,
        [(name: "used", value: .integer(Int64(invitation.record.used) + 1))])
      try rows.insert(context, Tables.oauthClients, client)
      try rows.note(context, entry)
    }
  }

  public func revokeClientInvitation(_ id: EnrolmentID, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)
  {
    try await write(mayUseReserve: true) { context, rows in
      let table = Tables.clientInvitations
      guard try rows.one(context, table, table.row(id.text)) != nil else { throw ClientInvitationRecord.missing }
      try context.run("DELETE FROM client_invitation WHERE id = \(id.text)")
      try rows.note(context, entry)
    }
  }
}

extension SignedRows {
  /// Reads an invitation for OAuth clients.
  ///
  /// The query needs no index, because the table has only a few rows.
  fileprivate func invitation<Context: Querying & ~Copyable>(
    _ context: borrowing Context, _ token: TokenHash, at now: Instant
  ) throws -> Stored<ClientInvitationRecord>? {
    let table = Tables.clientInvitations
    let stored = try one(context, table, "\(all: table) WHERE token = \(token.bytes)")
    return stored.flatMap { $0.record.isValid(at: now) ? $0 : nil }
  }
}
