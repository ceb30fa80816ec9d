public import RegentPairing

/// Tokens with which programs register themselves.
public protocol ClientInvitationStore: Sendable {
  /// Keeps a new invitation.
  ///
  /// - Throws: `notFound` when there is no such requestor, `codeTaken` when the id is another's, `tooManyLiveCodes`
  ///   when ``ClientInvitationRecord/mostOfRequestor`` stand.
  func invite(_ invitation: ClientInvitationRecord, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)

  /// The invitation of a token, if one more client may register with it.
  func clientInvitation(_ token: TokenHash, at now: Instant) async throws(StoreError) -> ClientInvitationRecord?

  /// All that stand, oldest first.
  func clientInvitations(at now: Instant) async throws(StoreError) -> [ClientInvitationRecord]

  /// Keeps a new client and counts its invitation, both or neither.
  ///
  /// - Throws: `notFound` when the invitation is used up, over, of another requestor or not there.
  func register(
    _ client: OAuthClientRecord, invitedBy token: TokenHash, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError)

  /// Ends an invitation; the clients that registered with it stay.
  ///
  /// - Throws: `notFound`.
  func revokeClientInvitation(_ id: EnrolmentID, audit entry: AuditEntry?, at now: Instant) async throws(StoreError)
}
