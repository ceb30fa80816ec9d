public import RegentPairing

/// The part of the store for registration codes, from their creation to their end.
///
/// Each operation applies one ``PairingEvent`` to the row that it names, in one transaction.
public protocol CodeStore: Sendable {
  /// Stores a new registration code.
  ///
  /// Guarantees: no other stored registration has the same code. Afterwards, no more codes are pending than the limits
  /// allow. Earlier pending codes of the same requestor, device and owner are withdrawn. While another owner has a code
  /// or sign-in with this device id, the code is stored under its owner's separate hash. The record's requestor exists
  /// and its row key is valid.
  ///
  /// - Returns: the withdrawn registrations, and whether the device already has a sign-in.
  /// - Throws: `codeTaken`, `tooManyLiveCodes`, `notFound`.
  func reserve(_ record: RegistrationRecord, within limits: LiveCodeLimits, at now: Instant)
    async throws(StoreError) -> Reservation

  /// Records that a phone has opened the page of a registration code.
  func open(_ id: RegistrationID, at now: Instant) async throws(StoreError) -> RegistrationChange

  /// Lets a signed-in session claim a code for a limited time (a lease), or renew its claim.
  ///
  /// Guarantees: one session at a time holds a code. The session is valid, and the claim is made for its viewer.
  /// - Throws: `refused`, `sessionEnded`, `notFound`.
  func claim(_ id: RegistrationID, by session: SessionID, at now: Instant)
    async throws(StoreError) -> RegistrationChange

  /// Extends the lease of a session's claim on a code, because the viewer was active on the page.
  func renew(_ id: RegistrationID, by session: SessionID, at now: Instant)
    async throws(StoreError) -> RegistrationChange

  /// Ends a session's claim on a code, because the viewer has left the page.
  func release(_ id: RegistrationID, by session: SessionID, at now: Instant)
    async throws(StoreError) -> RegistrationChange

  /// Approves a code and creates its authentication, in one transaction.
  ///
  /// Guarantees: of any number of approvals, by sessions and operators at any time, one succeeds, and one
  /// authentication exists. Account, integration and row key are valid at this moment. An earlier authentication of the
  /// device at this requestor ends, with its permits. A code cannot be approved after its expiry. If the viewer typed
  /// another number than the screen shows, the code is denied for good.
  /// - Throws: `refused`, `sessionEnded`, `notInForce`, `pass`, `notFound`.
  func approve(
    _ id: RegistrationID, _ request: ApprovalRequest, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> ApprovalResult

  /// Denies a code on behalf of the viewer whose session has claimed it.
  func deny(
    _ id: RegistrationID, by session: SessionID, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> RegistrationChange

  /// Withdraws a code.
  ///
  /// A sign-in that the code led to stays.
  func withdraw(
    _ id: RegistrationID, _ reason: WithdrawalReason, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> RegistrationChange

  /// Deletes codes in any state before they would expire.
  ///
  /// Sign-ins that they led to stay.
  func forgetCodes(_ ids: [RegistrationID]) async throws(StoreError)

  /// Reads a stored registration in any state.
  func registration(_ id: RegistrationID, at now: Instant)
    async throws(StoreError) -> RegistrationRecord?

  /// The stored registrations, sorted by id.
  ///
  /// The service loads them into memory at its start, and lists them for operators.
  func registrations(after id: RegistrationID?, limit: Int, at now: Instant)
    async throws(StoreError) -> [RegistrationRecord]
}

public struct Reservation: Hashable, Sendable {
  /// The registrations that were withdrawn because the device asked for a new code.
  ///
  /// The caller must answer the waiting requests of their devices.
  public let withdrawn: [RegistrationChange]
  /// Whether the device already has an unexpired sign-in at this requestor, as read in the transaction that stored the
  /// code.
  public let hasEarlierSignIn: Bool
  /// The registration as stored: under its own hash, or under its owner's separate one (``SignInOwner``).
  public let record: RegistrationRecord

  public init(withdrawn: [RegistrationChange], hasEarlierSignIn: Bool, record: RegistrationRecord) {
    self.withdrawn = withdrawn
    self.hasEarlierSignIn = hasEarlierSignIn
    self.record = record
  }
}

public struct ApprovalRequest: Hashable, Sendable {
  public enum By: Hashable, Sendable {
    /// The code is approved in the browser session that has claimed it, with the number that the viewer typed (number
    /// matching).
    case session(SessionID, picked: Int?)
    /// The code is approved by an operator on behalf of a viewer.
    case `operator`(OperatorName, for: Viewer)
  }

  public let by: By
  /// The id of the authentication to create.
  ///
  /// The caller generates it, so that the store recognises a repetition of the same request.
  public let authentication: AuthenticationID

  public init(by: By, authentication: AuthenticationID) {
    self.by = by
    self.authentication = authentication
  }
}

public struct ApprovalResult: Hashable, Sendable {
  /// The registration after the request: approved, or denied because the viewer typed another number than the screen
  /// shows.
  public let change: RegistrationChange
  /// The new authentication; nil when the code was denied.
  public let authentication: AuthenticationRecord?

  public init(change: RegistrationChange, authentication: AuthenticationRecord?) {
    self.change = change
    self.authentication = authentication
  }
}
