public import RegentPairing

/// The part of the store for OAuth clients and the grants that viewers gave them.
public protocol GrantStore: Sendable {
  /// A counter that increases with every change that may end a client, a grant or a record that they depend on.
  ///
  /// It increases before the operation that made the change returns. If a reader takes the counter's value first and
  /// then reads a record, the record stays valid while the counter keeps that value and the record has not expired. The
  /// counter is nil if other processes write to the store, because then only a new read can tell.
  var standingMark: UInt64? { get }

  /// Stores a new OAuth client, or replaces the record that the caller has read.
  ///
  /// Guarantees: the requestor exists, and so does the application of a client with a software statement, not revoked.
  /// The requestor has no more clients of the same origin than `room` allows; if necessary, a client that never paired
  /// is deleted.
  /// - Throws: `notFound`, `changedMeanwhile`, `tooManyClients`.
  func put(
    _ client: OAuthClientRecord, replacing seen: OAuthClientRecord?, in room: ClientRoom, audit entry: AuditEntry?,
    at now: Instant
  ) async throws(StoreError)

  /// Reads an OAuth client; nil when it does not exist or the application of its software statement is revoked.
  func oauthClient(_ id: ClientID) async throws(StoreError) -> OAuthClientRecord?

  /// Lists OAuth clients, sorted by id.
  func oauthClients(of requestor: RequestorID?, after id: ClientID?, limit: Int)
    async throws(StoreError) -> [OAuthClientRecord]

  /// Removes an OAuth client and ends its grants, with the sign-ins that they use.
  ///
  /// - Returns: the sign-ins that ended.
  /// - Throws: `notFound`.
  func removeOAuthClient(_ id: ClientID, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> [AuthenticationRecord]

  /// Stores a grant.
  ///
  /// When several calls for one sign-in compete, the first one's grant is stored and returned to all.
  ///
  /// Guarantees: client, sign-in, account, integration and row key are valid at this moment. The client counts as
  /// paired afterwards (``OAuthClientRecord/paired``).
  /// - Throws: `notInForce`, `notFound`.
  func keep(_ grant: GrantRecord, at now: Instant) async throws(StoreError) -> GrantRecord

  /// Stores the next generation of a grant after its refresh token was exchanged.
  ///
  /// It changes nothing if the stored grant already has that generation or a later one.
  ///
  /// Guarantees: the same as for ``keep(_:at:)``. Of several competing calls one is stored and returned to all.
  /// - Returns: the grant as stored.
  /// - Throws: `notInForce`, `notFound`.
  func rotate(_ grant: GrantRecord, at now: Instant) async throws(StoreError) -> GrantRecord

  /// Like ``rotate(_:at:)``, for a grant that ``grant(_:at:)`` has just returned.
  ///
  /// When `seen` shows that nothing has changed since, the store skips the repeated reads.
  func rotate(_ grant: GrantRecord, seen: GrantVersion?, at now: Instant) async throws(StoreError) -> GrantRecord

  /// Extends the idle time of a grant.
  ///
  /// Does nothing when the client has used the grant since the caller read it, or when the grant has ended.
  ///
  /// This call does not check whether the grant is valid: it is for clients that tried to refresh while an operator had
  /// paused their sign-in.
  func prolong(_ grant: GrantRecord, at now: Instant) async throws(StoreError)

  /// Reads a grant; nil when the grant, its client or its sign-in has ended.
  ///
  /// - Throws: `notInForce` when account, integration or row key are not valid any more.
  func grant(_ id: GrantID, at now: Instant) async throws(StoreError) -> ValidGrant?

  /// Lists the unexpired grants, sorted by id.
  ///
  /// Accounts, integrations and row keys are not checked.
  func grants(_ filter: GrantFilter, after id: GrantID?, limit: Int, at now: Instant)
    async throws(StoreError) -> [GrantRecord]

  /// Ends grants, together with the sign-ins that they use and the permits of these sign-ins.
  ///
  /// - Returns: the sign-ins that ended.
  func endGrants(_ filter: GrantFilter, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> [AuthenticationRecord]
}

extension GrantStore {
  /// Nil, because by default a store assumes that other processes write to its database.
  public var standingMark: UInt64? { nil }

  /// For stores without a change counter: ignores `seen` and repeats all reads.
  ///
  /// A store with a change counter has its own version, which skips the reads if nothing has changed.
  public func rotate(
    _ grant: GrantRecord, seen: GrantVersion?, at now: Instant
  ) async throws(StoreError) -> GrantRecord {
    try await rotate(grant, at: now)
  }
}
