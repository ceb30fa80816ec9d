public import RegentPairing

/// Clients that pair in OAuth's words, and what viewers gave them.
public protocol GrantStore: Sendable {
  /// A number that moves on with every change that may end a client, a grant or what these stand on, before whoever
  /// asked for the change is told that it is made.
  ///
  /// What was read after the number was taken holds for as long as it stays the same, and its own time lasts. Nil where
  /// others write as well: then nobody knows without reading.
  var standingMark: UInt64? { get }

  /// Keeps a client: a new one, or in place of the record that the caller has seen.
  ///
  /// Guarantees: the requestor exists, and for a client of a statement the application, not revoked; of the requestor
  /// and the same origin there are afterwards no more clients than `room` has places, one that never paired having made
  /// room if need be.
  /// - Throws: `notFound`, `changedMeanwhile`, `tooManyClients`.
  func put(
    _ client: OAuthClientRecord, replacing seen: OAuthClientRecord?, in room: ClientRoom, audit entry: AuditEntry?,
    at now: Instant
  ) async throws(StoreError)

  /// A client, if the application whose statement it showed is not revoked.
  func oauthClient(_ id: ClientID) async throws(StoreError) -> OAuthClientRecord?

  /// Clients in the order of their ids.
  func oauthClients(of requestor: RequestorID?, after id: ClientID?, limit: Int)
    async throws(StoreError) -> [OAuthClientRecord]

  /// Removes a client; its grants end, with the sign-ins that they stand on.
  ///
  /// - Returns: the sign-ins that ended.
  /// - Throws: `notFound`.
  func removeOAuthClient(_ id: ClientID, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> [AuthenticationRecord]

  /// Keeps what a viewer gave: of many at once for one sign-in the first is kept, and all are given that one.
  ///
  /// Guarantees: client, sign-in, account, integration and row key stand at this moment; the client has paired
  /// afterwards (``OAuthClientRecord/paired``).
  /// - Throws: `notInForce`, `notFound`.
  func keep(_ grant: GrantRecord, at now: Instant) async throws(StoreError) -> GrantRecord

  /// Keeps the next generation of a grant, if it still has the one before.
  ///
  /// Guarantees: as for ``keep(_:at:)``; of many at once one is kept, and all are given that one.
  /// - Returns: the grant as it is kept.
  /// - Throws: `notInForce`, `notFound`.
  func rotate(_ grant: GrantRecord, at now: Instant) async throws(StoreError) -> GrantRecord

  /// The same for a grant that the caller has just read, as ``grant(_:at:)`` gave it: what nothing can have changed
  /// since is not looked up again.
  func rotate(_ grant: GrantRecord, seen: GrantVersion?, at now: Instant) async throws(StoreError) -> GrantRecord

  /// Keeps the longer idle time of a grant that the caller has read: of one that was used since, or ended, nothing.
  ///
  /// Whether it stands is not looked at: its client cannot use it while it is switched off, and tried.
  func prolong(_ grant: GrantRecord, at now: Instant) async throws(StoreError)

  /// A grant, if it, its client and its sign-in are in force.
  ///
  /// - Throws: `notInForce` when account, integration or row key do not stand any more.
  func grant(_ id: GrantID, at now: Instant) async throws(StoreError) -> StandingGrant?

  /// The grants whose time is not over, in the order of their ids; whether they stand is not looked at.
  func grants(_ filter: GrantFilter, after id: GrantID?, limit: Int, at now: Instant)
    async throws(StoreError) -> [GrantRecord]

  /// Ends grants, with the sign-ins that they stand on and their permits.
  ///
  /// - Returns: the sign-ins that ended.
  func endGrants(_ filter: GrantFilter, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> [AuthenticationRecord]
}

extension GrantStore {
  /// Unless a store says otherwise, others may write.
  public var standingMark: UInt64? { nil }

  /// Looks everything up again.
  public func rotate(
    _ grant: GrantRecord, seen: GrantVersion?, at now: Instant
  ) async throws(StoreError) -> GrantRecord {
    try await rotate(grant, at: now)
  }
}
