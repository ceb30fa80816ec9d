public import PairingStore
public import RegentPairing
internal import Synchronization

/// Several handles on one database as one store: each verb goes to the next of them, so that nothing that one of them
/// keeps in memory may count.
public final class HandlesInTurn: Store {
  private let handles: [any Store]
  private let turn = Atomic(0)

  /// One store of several on the same database.
  public init(_ handles: [any Store]) { self.handles = handles }

  var next: any Store { handles[turn.wrappingAdd(1, ordering: .relaxed).oldValue % handles.count] }
}

extension HandlesInTurn {
  public func reserve(_ record: RegistrationRecord, limit: Int, at now: Instant) async throws(StoreError) -> Reservation
  {
    try await next.reserve(record, limit: limit, at: now)
  }

  public func open(_ id: RegistrationID, at now: Instant) async throws(StoreError) -> RegistrationChange {
    try await next.open(id, at: now)
  }

  public func claim(_ id: RegistrationID, by session: SessionID, at now: Instant) async throws(StoreError)
    -> RegistrationChange
  {
    try await next.claim(id, by: session, at: now)
  }

  public func renew(_ id: RegistrationID, by session: SessionID, at now: Instant) async throws(StoreError)
    -> RegistrationChange
  {
    try await next.renew(id, by: session, at: now)
  }

  public func release(_ id: RegistrationID, by session: SessionID, at now: Instant) async throws(StoreError)
    -> RegistrationChange
  {
    try await next.release(id, by: session, at: now)
  }

  public func approve(_ id: RegistrationID, _ request: ApprovalRequest, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> ApprovalResult
  {
    try await next.approve(id, request, audit: entry, at: now)
  }

  public func deny(_ id: RegistrationID, by session: SessionID, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> RegistrationChange
  {
    try await next.deny(id, by: session, audit: entry, at: now)
  }

  public func withdraw(_ id: RegistrationID, _ reason: WithdrawalReason, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> RegistrationChange
  {
    try await next.withdraw(id, reason, audit: entry, at: now)
  }

  public func forgetCodes(_ ids: [RegistrationID]) async throws(StoreError) {
    try await next.forgetCodes(ids)
  }

  public func registration(_ id: RegistrationID, at now: Instant) async throws(StoreError) -> RegistrationRecord? {
    try await next.registration(id, at: now)
  }

  public func registrations(after id: RegistrationID?, limit: Int, at now: Instant) async throws(StoreError)
    -> [RegistrationRecord]
  {
    try await next.registrations(after: id, limit: limit, at: now)
  }
}

extension HandlesInTurn {
  public func pickUp(requestor: RequestorID, device: DeviceHash, awaitsDelivery: Bool, at now: Instant)
    async throws(StoreError) -> PickUp
  {
    try await next.pickUp(requestor: requestor, device: device, awaitsDelivery: awaitsDelivery, at: now)
  }

  public func standing(_ id: AuthenticationID, at now: Instant) async throws(StoreError) -> StandingSignIn? {
    try await next.standing(id, at: now)
  }

  public func signInWithoutCode(_ record: AuthenticationRecord, at now: Instant) async throws(StoreError)
    -> StandingSignIn
  {
    try await next.signInWithoutCode(record, at: now)
  }

  public func signOut(requestor: RequestorID, device: DeviceHash, at now: Instant) async throws(StoreError)
    -> [AuthenticationRecord]
  {
    try await next.signOut(requestor: requestor, device: device, at: now)
  }

  public func revoke(_ filter: AuthenticationFilter, audit entry: AuditEntry?, at now: Instant) async throws(StoreError)
    -> [AuthenticationRecord]
  {
    try await next.revoke(filter, audit: entry, at: now)
  }

  public func authentications(_ filter: AuthenticationFilter, after id: AuthenticationID?, limit: Int, at now: Instant)
    async throws(StoreError) -> [AuthenticationRecord]
  {
    try await next.authentications(filter, after: id, limit: limit, at: now)
  }

  public func name(_ screen: ScreenHash, _ name: String?, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)
  {
    try await next.name(screen, name, audit: entry, at: now)
  }

  public func names(of screens: Set<ScreenHash>) async throws(StoreError) -> [ScreenHash: String] {
    try await next.names(of: screens)
  }
}

extension HandlesInTurn {
  public func permit(_ authentication: AuthenticationID, _ resource: ResourceID, at now: Instant)
    async throws(StoreError) -> PermitLookup
  {
    try await next.permit(authentication, resource, at: now)
  }

  public func record(_ permit: Permit, at now: Instant) async throws(StoreError) -> Permit {
    try await next.record(permit, at: now)
  }

  public func openTemporarily(_ authentication: AuthenticationID, _ resource: ResourceID, at now: Instant)
    async throws(StoreError) -> Permit
  {
    try await next.openTemporarily(authentication, resource, at: now)
  }

  public func temporaryPass(requestor: RequestorID, provider: ProviderID, device: DeviceHash, identity: IdentityHash?)
    async throws(StoreError) -> TemporaryPassUse
  {
    try await next.temporaryPass(requestor: requestor, provider: provider, device: device, identity: identity)
  }

  public func temporaryPasses(
    requestor: RequestorID?, provider: ProviderID?, after last: TemporaryPassCursor?, limit: Int
  ) async throws(StoreError) -> [TemporaryPassRecord] {
    try await next.temporaryPasses(requestor: requestor, provider: provider, after: last, limit: limit)
  }

  public func resetTemporaryPasses(
    requestor: RequestorID, provider: ProviderID, _ whose: TemporaryPassReset, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> Int {
    try await next.resetTemporaryPasses(requestor: requestor, provider: provider, whose, audit: entry, at: now)
  }
}

extension HandlesInTurn {
  public func startSession(_ record: SessionRecord, replacing earlier: SessionID?, proved: String?, at now: Instant)
    async throws(StoreError) -> [RegistrationChange]
  {
    try await next.startSession(record, replacing: earlier, proved: proved, at: now)
  }

  public func session(_ token: TokenHash, at now: Instant) async throws(StoreError) -> SessionRecord? {
    try await next.session(token, at: now)
  }

  public func touchSession(_ id: SessionID, at now: Instant) async throws(StoreError) {
    try await next.touchSession(id, at: now)
  }

  public func endSession(_ id: SessionID, audit entry: AuditEntry?, at now: Instant) async throws(StoreError)
    -> [RegistrationChange]?
  {
    try await next.endSession(id, audit: entry, at: now)
  }

  public func sessions(of viewer: Viewer, at now: Instant) async throws(StoreError) -> [SessionRecord] {
    try await next.sessions(of: viewer, at: now)
  }

  public func sessions(after id: SessionID?, limit: Int, at now: Instant) async throws(StoreError) -> [SessionRecord] {
    try await next.sessions(after: id, limit: limit, at: now)
  }
}

extension HandlesInTurn {
  public func enrol(_ box: BoxRecord, at now: Instant) async throws(StoreError) {
    try await next.enrol(box, at: now)
  }

  public func box(_ id: BoxID, at now: Instant) async throws(StoreError) -> BoxRecord? {
    try await next.box(id, at: now)
  }

  public func exchange(_ exchange: PlatformExchange, at now: Instant) async throws(StoreError) -> StandingSignIn {
    try await next.exchange(exchange, at: now)
  }

  public func decide(_ decision: PlatformPermissionRecord, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> Bool
  {
    try await next.decide(decision, audit: entry, at: now)
  }

  public func decisions(of device: DeviceHash) async throws(StoreError) -> [PlatformPermissionRecord] {
    try await next.decisions(of: device)
  }

  public func boxes(after id: BoxID?, limit: Int, at now: Instant) async throws(StoreError) -> [BoxOverview] {
    try await next.boxes(after: id, limit: limit, at: now)
  }

  public func children(of parent: AuthenticationID, at now: Instant) async throws(StoreError) -> [AuthenticationRecord]
  {
    try await next.children(of: parent, at: now)
  }
}

extension HandlesInTurn {
  public func append(_ entry: AuditEntry) async throws(StoreError) {
    try await next.append(entry)
  }

  public func audit(after number: Int64, limit: Int) async throws(StoreError) -> [NumberedAuditEntry] {
    try await next.audit(after: number, limit: limit)
  }

  public func newestAuditNumber() async throws(StoreError) -> Int64 {
    try await next.newestAuditNumber()
  }

  public func forgetAudit(beyond retention: AuditRetention, at now: Instant, limit: Int) async throws(StoreError) -> Int
  {
    try await next.forgetAudit(beyond: retention, at: now, limit: limit)
  }
}
