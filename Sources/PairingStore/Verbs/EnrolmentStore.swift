public import RegentPairing

/// The part of the store for invitations with which boxes get key pairs of their own.
public protocol EnrolmentStore: Sendable {
  /// Stores a new invitation for boxes.
  ///
  /// - Throws: `notFound` when there is no such requestor, `codeTaken` when the id is in use, `tooManyLiveCodes` when
  ///   the requestor has ``EnrolmentRecord/mostOfRequestor`` valid invitations.
  func invite(_ enrolment: EnrolmentRecord, audit entry: AuditEntry?, at now: Instant) async throws(StoreError)

  /// Reads a box invitation; nil when it has expired or does not exist.
  func enrolment(_ id: EnrolmentID, at now: Instant) async throws(StoreError) -> EnrolmentRecord?

  /// All valid box invitations, oldest first.
  func enrolments(at now: Instant) async throws(StoreError) -> [EnrolmentRecord]

  /// Gives a box a key pair of its own and counts the use of the invitation, in one transaction.
  ///
  /// A box that has redeemed the invitation before gets the same pair again.
  ///
  /// - Returns: the new pair, or the one that the box got earlier.
  /// - Throws: `notFound` when the invitation is used up, expired or unknown, or when the box's earlier pair is not
  ///   active any more.
  func redeem(
    _ id: EnrolmentID, box: String, with pair: KeyPair, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> KeyPair

  /// Ends a box invitation.
  ///
  /// The key pairs that boxes got with it stay.
  ///
  /// - Throws: `notFound`.
  func revokeEnrolment(_ id: EnrolmentID, audit entry: AuditEntry?, at now: Instant) async throws(StoreError)
}
