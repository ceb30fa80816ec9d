public import PairingStore
public import RegentPairing

/// A store that forwards every call, so that a test store implements only the calls that it changes.
public protocol ForwardingStore: Store {
  /// The store that receives the next call.
  var target: any Store { get }
}

extension ForwardingStore {
  public func reserve(_ record: RegistrationRecord, within limits: LiveCodeLimits, at now: Instant)
    async throws(StoreError) -> Reservation
  {
    try await target.reserve(record, within: limits, at: now)
  }

  public func open(_ id: RegistrationID, at now: Instant) async throws(StoreError) -> RegistrationChange {
    try await target.open(id, at: now)
  }

  public func claim(_ id: RegistrationID, by session: SessionID, at now: Instant) async throws(StoreError)
    -> RegistrationChange
  {
    try await target.claim(id, by: session, at: now)
  }

  public func renew(_ id: RegistrationID, by session: SessionID, at now: Instant) async throws(StoreError)
    -> RegistrationChange
  {
    try await target.renew(id, by: session, at: now)
  }

  public func release(_ id: RegistrationID, by session: SessionID, at now: Instant) async throws(StoreError)
    -> RegistrationChange
  {
    try await target.release(id, by: session, at: now)
  }

  public func approve(_ id: RegistrationID, _ request: ApprovalRequest, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> ApprovalResult
  {
    try await target.approve(id, request, audit: entry, at: now)
  }

  public func deny(_ id: RegistrationID, by session: SessionID, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> RegistrationChange
  {
    try await target.deny(id, by: session, audit: entry, at: now)
  }

  public func withdraw(_ id: RegistrationID, _ reason: WithdrawalReason, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> RegistrationChange
  {
    try await target.withdraw(id, reason, audit: entry, at: now)
  }

  public func forgetCodes(_ ids: [RegistrationID]) async throws(StoreError) {
    try await target.forgetCodes(ids)
  }

  public func registration(_ id: RegistrationID, at now: Instant) async throws(StoreError) -> RegistrationRecord? {
    try await target.registration(id, at: now)
  }

  public func registrations(after id: RegistrationID?, limit: Int, at now: Instant) async throws(StoreError)
    -> [RegistrationRecord]
  {
    try await target.registrations(after: id, limit: limit, at: now)
  }
}

extension ForwardingStore {
  public func pickUp(
    requestor: RequestorID, device: DeviceHash, of owner: SignInOwner?, awaitsDelivery: Bool, at now: Instant
  ) async throws(StoreError) -> PickUp {
    try await target.pickUp(requestor: requestor, device: device, of: owner, awaitsDelivery: awaitsDelivery, at: now)
  }

  public func standing(_ id: AuthenticationID, at now: Instant) async throws(StoreError) -> ValidSignIn? {
    try await target.standing(id, at: now)
  }

  public func signInWithoutCode(_ record: AuthenticationRecord, at now: Instant) async throws(StoreError)
    -> ValidSignIn
  {
    try await target.signInWithoutCode(record, at: now)
  }

  public func signOut(
    requestor: RequestorID, device: DeviceHash, of owner: SignInOwner?, at now: Instant
  ) async throws(StoreError) -> [AuthenticationRecord] {
    try await target.signOut(requestor: requestor, device: device, of: owner, at: now)
  }

  public func revoke(_ filter: AuthenticationFilter, audit entry: AuditEntry?, at now: Instant) async throws(StoreError)
    -> [AuthenticationRecord]
  {
    try await target.revoke(filter, audit: entry, at: now)
  }

  public func makeRoom(
    besides new: AuthenticationRecord, _ room: SignInRoom,
    audit line: @escaping @Sendable (AuthenticationRecord) -> AuditEntry, at now: Instant
  ) async throws(StoreError) -> [AuthenticationRecord] {
    try await target.makeRoom(besides: new, room, audit: line, at: now)
  }

  public func authentications(_ filter: AuthenticationFilter, after id: AuthenticationID?, limit: Int, at now: Instant)
    async throws(StoreError) -> [AuthenticationRecord]
  {
    try await target.authentications(filter, after: id, limit: limit, at: now)
  }

  public func countSignedInBoxes(at now: Instant) async throws(StoreError) -> Int {
    try await target.countSignedInBoxes(at: now)
  }

  public func setVisitorID(_ visitorID: String, of id: AuthenticationID, at now: Instant)
    async throws(StoreError) -> Bool
  {
    try await target.setVisitorID(visitorID, of: id, at: now)
  }

  public func name(_ screen: ScreenHash, _ name: String?, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)
  {
    try await target.name(screen, name, audit: entry, at: now)
  }

  public func names(of screens: Set<ScreenHash>) async throws(StoreError) -> [ScreenHash: String] {
    try await target.names(of: screens)
  }
}

extension ForwardingStore {
  public func permit(_ authentication: AuthenticationID, _ resource: ResourceID, at now: Instant)
    async throws(StoreError) -> PermitLookup
  {
    try await target.permit(authentication, resource, at: now)
  }

  public func record(_ permit: Permit, keeping most: Int, at now: Instant) async throws(StoreError) -> Permit {
    try await target.record(permit, keeping: most, at: now)
  }

  public func openTemporarily(
    _ authentication: AuthenticationID, _ resource: ResourceID, keeping most: Int, at now: Instant
  ) async throws(StoreError) -> Permit {
    try await target.openTemporarily(authentication, resource, keeping: most, at: now)
  }

  public func temporaryPass(requestor: RequestorID, provider: ProviderID, device: DeviceHash, identity: IdentityHash?)
    async throws(StoreError) -> TemporaryPassUse
  {
    try await target.temporaryPass(requestor: requestor, provider: provider, device: device, identity: identity)
  }

  public func temporaryPasses(
    requestor: RequestorID?, provider: ProviderID?, after last: TemporaryPassCursor?, limit: Int
  ) async throws(StoreError) -> [TemporaryPassRecord] {
    try await target.temporaryPasses(requestor: requestor, provider: provider, after: last, limit: limit)
  }

  public func resetTemporaryPasses(
    requestor: RequestorID, provider: ProviderID, _ whose: TemporaryPassReset, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> Int {
    try await target.resetTemporaryPasses(requestor: requestor, provider: provider, whose, audit: entry, at: now)
  }
}

extension ForwardingStore {
  public func startSession(_ record: SessionRecord, replacing earlier: SessionID?, proved: String?, at now: Instant)
    async throws(StoreError) -> [RegistrationChange]
  {
    try await target.startSession(record, replacing: earlier, proved: proved, at: now)
  }

  public func session(_ token: TokenHash, at now: Instant) async throws(StoreError) -> SessionRecord? {
    try await target.session(token, at: now)
  }

  public func touchSession(_ id: SessionID, at now: Instant) async throws(StoreError) {
    try await target.touchSession(id, at: now)
  }

  public func endSession(_ id: SessionID, audit entry: AuditEntry?, at now: Instant) async throws(StoreError)
    -> [RegistrationChange]?
  {
    try await target.endSession(id, audit: entry, at: now)
  }

  public func sessions(of viewer: Viewer, at now: Instant) async throws(StoreError) -> [SessionRecord] {
    try await target.sessions(of: viewer, at: now)
  }

  public func sessions(after id: SessionID?, limit: Int, at now: Instant) async throws(StoreError) -> [SessionRecord] {
    try await target.sessions(after: id, limit: limit, at: now)
  }
}

extension ForwardingStore {
  public func enrol(_ box: BoxRecord, at now: Instant) async throws(StoreError) -> BoxRecord {
    try await target.enrol(box, at: now)
  }

  public func box(_ id: BoxID, at now: Instant) async throws(StoreError) -> BoxRecord? {
    try await target.box(id, at: now)
  }

  public func box(of authentication: AuthenticationID) async throws(StoreError) -> BoxRecord? {
    try await target.box(of: authentication)
  }

  public func exchange(_ exchange: PlatformExchange, at now: Instant) async throws(StoreError) -> ValidSignIn {
    try await target.exchange(exchange, at: now)
  }

  public func decide(
    _ decision: PlatformPermissionRecord, signed: UsedText?, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> Bool {
    try await target.decide(decision, signed: signed, audit: entry, at: now)
  }

  public func decisions(of device: DeviceHash) async throws(StoreError) -> [PlatformPermissionRecord] {
    try await target.decisions(of: device)
  }

  public func boxes(after id: BoxID?, limit: Int, at now: Instant) async throws(StoreError) -> [BoxOverview] {
    try await target.boxes(after: id, limit: limit, at: now)
  }

  public func children(of parent: AuthenticationID, at now: Instant) async throws(StoreError) -> [AuthenticationRecord]
  {
    try await target.children(of: parent, at: now)
  }
}

extension ForwardingStore {
  public func append(_ entry: AuditEntry) async throws(StoreError) {
    try await target.append(entry)
  }

  public func audit(after number: Int64, limit: Int) async throws(StoreError) -> [NumberedAuditEntry] {
    try await target.audit(after: number, limit: limit)
  }

  public func newestAuditNumber() async throws(StoreError) -> Int64 {
    try await target.newestAuditNumber()
  }

  public func forgetAudit(beyond retention: AuditRetention, at now: Instant, limit: Int) async throws(StoreError) -> Int
  {
    try await target.forgetAudit(beyond: retention, at: now, limit: limit)
  }
}
