public import RegentPairing

/// Invitations, with whose tokens programs register themselves as OAuth clients.
public protocol ClientInvitationStore: Sendable {
  /// Stores a new invitation.
  ///
  /// - Throws: `notFound` when there is no such requestor, `codeTaken` when the id is in use, `tooManyLiveCodes` when
  ///   the requestor has ``ClientInvitationRecord/mostOfRequestor`` valid invitations.
  func invite(_ invitation: ClientInvitationRecord, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)

  /// The invitation with this token, if it has not expired and is not used up.
  func clientInvitation(_ token: TokenHash, at now: Instant) async throws(StoreError) -> ClientInvitationRecord?

  /// All valid invitations, oldest first.
  func clientInvitations(at now: Instant) async throws(StoreError) -> [ClientInvitationRecord]

  /// Stores a new client and counts the use of its invitation, in one transaction.
  ///
  /// - Throws: `notFound` when the invitation is used up, expired, unknown or another requestor's.
  func register(
    _ client: OAuthClientRecord, invitedBy token: TokenHash, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError)

  /// Ends an invitation.
  ///
  /// Clients that registered with it stay.
  ///
  /// - Throws: `notFound`.
  func revokeClientInvitation(_ id: EnrolmentID, audit entry: AuditEntry?, at now: Instant) async throws(StoreError)
}
