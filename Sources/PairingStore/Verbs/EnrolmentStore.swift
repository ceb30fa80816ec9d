public import RegentPairing

/// Invitations of boxes.
public protocol EnrolmentStore: Sendable {
  /// Keeps a new invitation.
  ///
  /// - Throws: `notFound` when there is no such requestor, `codeTaken` when the id is another's, `tooManyLiveCodes`
  ///   when ``EnrolmentRecord/mostOfRequestor`` stand.
  func invite(_ enrolment: EnrolmentRecord, audit entry: AuditEntry?, at now: Instant) async throws(StoreError)

  /// An invitation that stands.
  func enrolment(_ id: EnrolmentID, at now: Instant) async throws(StoreError) -> EnrolmentRecord?

  /// All that stand, oldest first.
  func enrolments(at now: Instant) async throws(StoreError) -> [EnrolmentRecord]

  /// Gives a box a key pair of its own and counts it, both or neither; a box that has redeemed it gets its pair again.
  ///
  /// - Returns: the box's pair: the one that is given, or the earlier one.
  /// - Throws: `notFound` when the invitation is used up, over or not there, or the box's pair is not active any more.
  func redeem(
    _ id: EnrolmentID, box: String, with pair: KeyPair, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> KeyPair

  /// Ends an invitation; the pairs that boxes got for it stay.
  ///
  /// - Throws: `notFound`.
  func revokeEnrolment(_ id: EnrolmentID, audit entry: AuditEntry?, at now: Instant) async throws(StoreError)
}
