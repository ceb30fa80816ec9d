public import RegentPairing

/// The part of the store for sessions of signed-in phone browsers.
public protocol SessionStore: Sendable {
  /// Stores a new session and ends the browser's earlier one.
  ///
  /// An attacker who planted a session id in the browser before the sign-in therefore gains nothing (session fixation).
  ///
  /// Limits: ``SessionRecord/mostOfAccount`` sessions for an account, as many for one guest address at a provider, and
  /// ``SessionRecord/mostOfGuests`` for all guests of a provider. Beyond a limit, the sessions that were unused for the
  /// longest time end.
  ///
  /// Guarantees: the account exists and is not disabled, and its password hash still equals `proved` (nil for guests).
  /// Checking a password takes long enough for an operator to change it meanwhile.
  /// - Returns: the registrations whose claims ended with ended sessions.
  /// - Throws: `notInForce`; `changedMeanwhile` when the password has changed.
  @discardableResult
  func startSession(
    _ record: SessionRecord, replacing earlier: SessionID?, proved: String?, at now: Instant
  ) async throws(StoreError) -> [RegistrationChange]

  /// Reads the browser session whose cookie has this hash, if the session has not ended and its account is valid.
  func session(_ token: TokenHash, at now: Instant) async throws(StoreError) -> SessionRecord?

  /// Updates the time of a session's last use.
  ///
  /// It writes at most once in ``SessionRecord/touchInterval``.
  ///
  /// - Throws: `sessionEnded`.
  func touchSession(_ id: SessionID, at now: Instant) async throws(StoreError)

  /// Ends a session and gives up its claims on codes.
  ///
  /// - Returns: the registrations whose claims ended; nil when there is no such session, and then no audit line is
  ///   written.
  func endSession(_ id: SessionID, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> [RegistrationChange]?

  /// The valid sessions of a viewer.
  func sessions(of viewer: Viewer, at now: Instant) async throws(StoreError) -> [SessionRecord]

  /// Lists the valid sessions after an id, sorted by id.
  func sessions(after id: SessionID?, limit: Int, at now: Instant)
    async throws(StoreError) -> [SessionRecord]
}
