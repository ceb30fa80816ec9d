public import RegentPairing

/// Signed-in phone browsers.
public protocol SessionStore: Sendable {
  /// Keeps a new session; one that the browser had before ends with it, so that a session id that was slipped in before
  /// the sign-in is worth nothing after it.
  ///
  /// An account has at most ``SessionRecord/mostOfAccount`` sessions, a guest's address as many at a provider, and all
  /// guests of a provider ``SessionRecord/mostOfGuests``: beyond that those end that were used longest ago.
  ///
  /// Guarantees: the account exists and is not disabled at this moment, and its password is still `seen`, the PHC
  /// string that was found right; none when no password was asked for. Otherwise whoever knows an old password could
  /// begin a session just behind the change that ends all others.
  /// - Returns: the registrations that are free again with the sessions that ended.
  /// - Throws: `notInForce`, `changedMeanwhile`.
  @discardableResult
  func startSession(
    _ record: SessionRecord, password seen: String?, replacing earlier: SessionID?, at now: Instant
  ) async throws(StoreError) -> [RegistrationChange]

  /// The session of a cookie, if it is in force and its account stands.
  func session(_ token: TokenHash, at now: Instant) async throws(StoreError) -> SessionRecord?

  /// Notes that a session is used; writes at most once in ``SessionRecord/touchInterval``.
  ///
  /// - Throws: `sessionEnded`.
  func touchSession(_ id: SessionID, at now: Instant) async throws(StoreError)

  /// Ends a session and gives back what it had claimed.
  ///
  /// - Returns: the registrations that are free again; nil when there is no such session, and nothing is noted then.
  func endSession(_ id: SessionID, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> [RegistrationChange]?

  /// The sessions of a viewer that are in force.
  func sessions(of viewer: Viewer, at now: Instant) async throws(StoreError) -> [SessionRecord]

  /// The sessions that are in force behind an id, in the order of their ids.
  func sessions(after id: SessionID?, limit: Int, at now: Instant)
    async throws(StoreError) -> [SessionRecord]
}
