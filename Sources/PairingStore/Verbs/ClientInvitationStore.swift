public import RegentPairing

/// The part of the store for invitations: tokens with which programs register themselves as OAuth clients.
public protocol ClientInvitationStore: Sendable {
  /// Stores a new invitation for OAuth clients.
  ///
  /// - Throws: `notFound` when there is no such requestor, `codeTaken` when the id is in use, `tooManyLiveCodes` when
  ///   the requestor has ``ClientInvitationRecord/mostOfRequestor`` valid invitations.
  func invite(_ invitation: ClientInvitationRecord, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)

  /// Reads the invitation for OAuth clients with this token; nil if it has expired, is used up or does not exist.
  func clientInvitation(_ token: TokenHash, at now: Instant) async throws(StoreError) -> ClientInvitationRecord?

  /// All valid invitations for OAuth clients, oldest first.
  func clientInvitations(at now: Instant) async throws(StoreError) -> [ClientInvitationRecord]

  /// Stores a client that registers itself and counts the use of its invitation, in one transaction.
  ///
  /// - Throws: `notFound` when the invitation is used up, expired, unknown or another requestor's.
  func register(
    _ client: OAuthClientRecord, invitedBy token: TokenHash, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError)

  /// Ends an invitation for OAuth clients.
  ///
  /// Clients that registered with it stay.
  ///
  /// - Throws: `notFound`.
  func revokeClientInvitation(_ id: EnrolmentID, audit entry: AuditEntry?, at now: Instant) async throws(StoreError)
}
