public import RegentPairing

/// Registration codes, from their creation to their end.
///
/// Each verb applies one ``PairingEvent`` to the row that it names, in one transaction.
public protocol CodeStore: Sendable {
  /// Stores a new code.
  ///
  /// Guarantees: no other stored registration has the same code. Afterwards, no more codes are pending than the limits
  /// allow. Earlier pending codes of the same requestor and device are withdrawn. The record's requestor exists and its
  /// row key is valid.
  ///
  /// - Returns: the withdrawn registrations, and whether the device already has a sign-in.
  /// - Throws: `codeTaken`, `tooManyLiveCodes`, `notFound`.
  func reserve(_ record: RegistrationRecord, within limits: LiveCodeLimits, at now: Instant)
    async throws(StoreError) -> Reservation

  /// Records that a phone has opened the page of the code.
  func open(_ id: RegistrationID, at now: Instant) async throws(StoreError) -> RegistrationChange

  /// A signed-in session claims the code for the time of a lease, or renews its claim.
  ///
  /// Guarantees: one session at a time holds a code. The session is valid, and the claim is made for its viewer.
  /// - Throws: `refused`, `sessionEnded`, `notFound`.
  func claim(_ id: RegistrationID, by session: SessionID, at now: Instant)
    async throws(StoreError) -> RegistrationChange

  /// Restarts the lease of the claim, because the viewer was active on the page that holds it.
  func renew(_ id: RegistrationID, by session: SessionID, at now: Instant)
    async throws(StoreError) -> RegistrationChange

  /// Gives the claim up: the viewer has left the page.
  func release(_ id: RegistrationID, by session: SessionID, at now: Instant)
    async throws(StoreError) -> RegistrationChange

  /// Approves the code and creates its authentication, in one transaction.
  ///
  /// Guarantees: of any number of approvals, by sessions and operators at any time, one succeeds, and one
  /// authentication exists. Account, integration and row key are valid at this moment. An earlier authentication of the
  /// device at this requestor ends, with its permits. A code cannot be approved after its expiry. A wrong number match
  /// denies the code permanently.
  /// - Throws: `refused`, `sessionEnded`, `notInForce`, `pass`, `notFound`.
  func approve(
    _ id: RegistrationID, _ request: ApprovalRequest, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> ApprovalResult

  /// The viewer who holds the claim denies the code.
  func deny(
    _ id: RegistrationID, by session: SessionID, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> RegistrationChange

  /// Withdraws the code.
  ///
  /// A sign-in that it led to stays.
  func withdraw(
    _ id: RegistrationID, _ reason: WithdrawalReason, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> RegistrationChange

  /// Deletes codes in any state before their time.
  ///
  /// Sign-ins that they led to stay.
  func forgetCodes(_ ids: [RegistrationID]) async throws(StoreError)

  /// A stored registration, in any state.
  func registration(_ id: RegistrationID, at now: Instant)
    async throws(StoreError) -> RegistrationRecord?

  /// The stored registrations, sorted by id: for loading them into memory at start, and for lists.
  func registrations(after id: RegistrationID?, limit: Int, at now: Instant)
    async throws(StoreError) -> [RegistrationRecord]
}

public struct Reservation: Hashable, Sendable {
  /// The withdrawn registrations.
  ///
  /// The caller must answer the waiting requests of their devices.
  public let withdrawn: [RegistrationChange]
  /// Whether the device has an unexpired sign-in at this requestor, as read in the same transaction.
  public let hasEarlierSignIn: Bool

  public init(withdrawn: [RegistrationChange], hasEarlierSignIn: Bool) {
    self.withdrawn = withdrawn
    self.hasEarlierSignIn = hasEarlierSignIn
  }
}

public struct ApprovalRequest: Hashable, Sendable {
  public enum By: Hashable, Sendable {
    /// The session that holds the claim, with the number that the viewer picked.
    case session(SessionID, picked: Int?)
    /// An operator, on behalf of a viewer.
    case `operator`(OperatorName, for: Viewer)
  }

  public let by: By
  /// The id of the authentication to create.
  ///
  /// The caller generates it, so that the store recognises a repeated request.
  public let authentication: AuthenticationID

  public init(by: By, authentication: AuthenticationID) {
    self.by = by
    self.authentication = authentication
  }
}

public struct ApprovalResult: Hashable, Sendable {
  /// The registration after the approval: approved, or denied because of a wrong number.
  public let change: RegistrationChange
  /// The new authentication; nil after a wrong number.
  public let authentication: AuthenticationRecord?

  public init(change: RegistrationChange, authentication: AuthenticationRecord?) {
    self.change = change
    self.authentication = authentication
  }
}
