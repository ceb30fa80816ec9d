public import RegentPairing

/// The life of registration codes.
///
/// Each verb applies one ``PairingEvent`` to the row it names, inside its transaction.
public protocol CodeStore: Sendable {
  /// Keeps a new code.
  ///
  /// Guarantees: no other remembered registration has the same code; no more codes are pending afterwards than the
  /// limits say, whoever made them; earlier pending codes of the same requestor and device are withdrawn with it. The
  /// record's requestor and its row key exist and are in force.
  ///
  /// - Returns: the registrations that were withdrawn, and whether the device has a sign-in already.
  /// - Throws: `codeTaken`, `tooManyLiveCodes`, `notFound`.
  func reserve(_ record: RegistrationRecord, within limits: LiveCodeLimits, at now: Instant)
    async throws(StoreError) -> Reservation

  /// The phone's page is there.
  func open(_ id: RegistrationID, at now: Instant) async throws(StoreError) -> RegistrationChange

  /// A signed-in session takes the code for the time of a lease, or keeps it.
  ///
  /// Guarantees: one session holds a code at a time. The session is in force, and the claim is made as its viewer.
  /// - Throws: `refused`, `sessionEnded`, `notFound`.
  func claim(_ id: RegistrationID, by session: SessionID, at now: Instant)
    async throws(StoreError) -> RegistrationChange

  /// The page that holds the claim shows activity: the lease runs anew.
  func renew(_ id: RegistrationID, by session: SessionID, at now: Instant)
    async throws(StoreError) -> RegistrationChange

  /// The viewer went back.
  func release(_ id: RegistrationID, by session: SessionID, at now: Instant)
    async throws(StoreError) -> RegistrationChange

  /// Redeems the code: approves it and creates the one authentication, together.
  ///
  /// Guarantees: of any number of approvals, by sessions, operators and at any time, one succeeds, and one
  /// authentication exists. Account, integration and row key stand at this moment. An earlier authentication of the
  /// device at this requestor ends with it, permits included. Nothing is approved after the expiry. A wrong number
  /// denies the code, for good.
  /// - Throws: `refused`, `sessionEnded`, `notInForce`, `pass`, `notFound`.
  func approve(
    _ id: RegistrationID, _ request: ApprovalRequest, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> ApprovalResult

  /// The viewer who holds the claim says no.
  func deny(
    _ id: RegistrationID, by session: SessionID, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> RegistrationChange

  /// The code is taken back; a sign-in that it led to stays.
  func withdraw(
    _ id: RegistrationID, _ reason: WithdrawalReason, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> RegistrationChange

  /// Forgets codes before their time, whatever their state; a sign-in that one of them led to stays.
  func forgetCodes(_ ids: [RegistrationID]) async throws(StoreError)

  /// What is remembered of a code, whatever its state.
  func registration(_ id: RegistrationID, at now: Instant)
    async throws(StoreError) -> RegistrationRecord?

  /// The registrations that are remembered, in the order of their ids, for loading at start and for lists.
  func registrations(after id: RegistrationID?, limit: Int, at now: Instant)
    async throws(StoreError) -> [RegistrationRecord]
}

/// What came of a new code.
public struct Reservation: Hashable, Sendable {
  /// The registrations that were withdrawn; their devices are to be woken.
  public let withdrawn: [RegistrationChange]
  /// Whether the device has a sign-in at this requestor that has not expired: looked up in the same transaction.
  public let hasEarlierSignIn: Bool

  /// What came of a new code.
  public init(withdrawn: [RegistrationChange], hasEarlierSignIn: Bool) {
    self.withdrawn = withdrawn
    self.hasEarlierSignIn = hasEarlierSignIn
  }
}

/// A yes, as it reaches the store.
public struct ApprovalRequest: Hashable, Sendable {
  /// Who says it.
  public enum By: Hashable, Sendable {
    /// The session that holds the claim, with the number it picked.
    case session(SessionID, picked: Int?)
    /// An operator, for a viewer.
    case `operator`(OperatorName, for: Viewer)
  }

  /// Who says it.
  public let by: By
  /// The id of the authentication to create: the caller draws it, so that a repeated request can be recognised.
  public let authentication: AuthenticationID

  public init(by: By, authentication: AuthenticationID) {
    self.by = by
    self.authentication = authentication
  }
}

/// What came of a yes.
public struct ApprovalResult: Hashable, Sendable {
  /// The registration after it: approved, or denied because of a wrong number.
  public let change: RegistrationChange
  /// The authentication; none after a wrong number.
  public let authentication: AuthenticationRecord?

  /// What came of a yes.
  public init(change: RegistrationChange, authentication: AuthenticationRecord?) {
    self.change = change
    self.authentication = authentication
  }
}
