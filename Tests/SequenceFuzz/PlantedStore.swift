import PairingStore
import RegentPairing

/// A fault that is put into a store on purpose: a player that does not find it proves nothing.
enum PlantedFault: String, CaseIterable {
  /// A second browser takes a code from the one that holds it.
  case lease
  /// A code that was approved is approved once more.
  case redeemed
  /// A code that was taken back still waits.
  case withdrawal
}

/// A store with a fault in one verb.
///
/// The other verbs, below, pass everything on: that is what makes this file long.
struct PlantedStore: Store {
  let base: any Store
  let fault: PlantedFault

  func claim(_ id: RegistrationID, by session: SessionID, at now: Instant) async throws(StoreError)
    -> RegistrationChange
  {
    do throws(StoreError) {
      return try await base.claim(id, by: session, at: now)
    } catch {
      guard fault == .lease, case .refused(.claimedByAnother) = error,
        case .claimed(let lease)? = try await base.registration(id, at: now)?.flow.state
      else { throw error }
      _ = try await base.release(id, by: lease.claimer.session, at: now)
      return try await base.claim(id, by: session, at: now)
    }
  }

  func approve(_ id: RegistrationID, _ request: ApprovalRequest, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> ApprovalResult
  {
    do throws(StoreError) {
      return try await base.approve(id, request, audit: entry, at: now)
    } catch {
      guard fault == .redeemed, error == .refused(.alreadyApproved),
        let record = try await base.registration(id, at: now)
      else { throw error }
      let change = RegistrationChange(record: record, actions: [.wakeDevice])
      let filter = AuthenticationFilter(device: record.deviceHash)
      let signIn = try await base.authentications(filter, after: nil, limit: 1, at: now).first
      return ApprovalResult(change: change, authentication: signIn)
    }
  }

  func withdraw(_ id: RegistrationID, _ reason: WithdrawalReason, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> RegistrationChange
  {
    guard fault == .withdrawal, let record = try await base.registration(id, at: now),
      let step = try? record.flow.applying(.withdraw(reason), at: now)
    else { return try await base.withdraw(id, reason, audit: entry, at: now) }
    return RegistrationChange(record: record.moved(to: step.flow), actions: step.actions)
  }
}

extension PlantedStore {
  func append(_ entry: AuditEntry) async throws(StoreError) {
    try await base.append(entry)
  }

  func audit(after number: Int64, limit: Int) async throws(StoreError) -> [NumberedAuditEntry] {
    try await base.audit(after: number, limit: limit)
  }

  func newestAuditNumber() async throws(StoreError) -> Int64 {
    try await base.newestAuditNumber()
  }

  func forgetAudit(beyond retention: AuditRetention, at now: Instant, limit: Int) async throws(StoreError) -> Int {
    try await base.forgetAudit(beyond: retention, at: now, limit: limit)
  }

  func pickUp(requestor: RequestorID, device: DeviceHash, awaitsDelivery: Bool, at now: Instant)
    async throws(StoreError) -> PickUp
  {
    try await base.pickUp(requestor: requestor, device: device, awaitsDelivery: awaitsDelivery, at: now)
  }

  func standing(_ id: AuthenticationID, at now: Instant) async throws(StoreError) -> StandingSignIn? {
    try await base.standing(id, at: now)
  }

  func signInWithoutCode(_ record: AuthenticationRecord, at now: Instant) async throws(StoreError) -> StandingSignIn {
    try await base.signInWithoutCode(record, at: now)
  }

  func signOut(requestor: RequestorID, device: DeviceHash, at now: Instant) async throws(StoreError)
    -> [AuthenticationRecord]
  {
    try await base.signOut(requestor: requestor, device: device, at: now)
  }

  func revoke(_ filter: AuthenticationFilter, audit entry: AuditEntry?, at now: Instant) async throws(StoreError)
    -> [AuthenticationRecord]
  {
    try await base.revoke(filter, audit: entry, at: now)
  }

  func authentications(_ filter: AuthenticationFilter, after id: AuthenticationID?, limit: Int, at now: Instant)
    async throws(StoreError) -> [AuthenticationRecord]
  {
    try await base.authentications(filter, after: id, limit: limit, at: now)
  }

  func name(_ screen: ScreenHash, _ name: String?, audit entry: AuditEntry?, at now: Instant) async throws(StoreError) {
    try await base.name(screen, name, audit: entry, at: now)
  }

  func names(of screens: Set<ScreenHash>) async throws(StoreError) -> [ScreenHash: String] {
    try await base.names(of: screens)
  }

  func reserve(_ record: RegistrationRecord, limit: Int, at now: Instant) async throws(StoreError) -> Reservation {
    try await base.reserve(record, limit: limit, at: now)
  }

  func open(_ id: RegistrationID, at now: Instant) async throws(StoreError) -> RegistrationChange {
    try await base.open(id, at: now)
  }

  func renew(_ id: RegistrationID, by session: SessionID, at now: Instant) async throws(StoreError)
    -> RegistrationChange
  {
    try await base.renew(id, by: session, at: now)
  }

  func release(_ id: RegistrationID, by session: SessionID, at now: Instant) async throws(StoreError)
    -> RegistrationChange
  {
    try await base.release(id, by: session, at: now)
  }

  func deny(_ id: RegistrationID, by session: SessionID, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> RegistrationChange
  {
    try await base.deny(id, by: session, audit: entry, at: now)
  }

  func forgetCodes(_ ids: [RegistrationID]) async throws(StoreError) {
    try await base.forgetCodes(ids)
  }

  func registration(_ id: RegistrationID, at now: Instant) async throws(StoreError) -> RegistrationRecord? {
    try await base.registration(id, at: now)
  }

  func registrations(after id: RegistrationID?, limit: Int, at now: Instant) async throws(StoreError)
    -> [RegistrationRecord]
  {
    try await base.registrations(after: id, limit: limit, at: now)
  }

  func keyMaterial(for purpose: KeyPurpose) async throws(StoreError) -> StoredSecret {
    try await base.keyMaterial(for: purpose)
  }

  func add(_ pair: KeyPair, audit entry: AuditEntry?, at now: Instant) async throws(StoreError) {
    try await base.add(pair, audit: entry, at: now)
  }

  func setState(of publicKey: PublicKey, to state: KeyPair.State, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)
  {
    try await base.setState(of: publicKey, to: state, audit: entry, at: now)
  }

  func add(_ key: SigningKeyRecord, audit entry: AuditEntry?, at now: Instant) async throws(StoreError) {
    try await base.add(key, audit: entry, at: now)
  }

  func retireSigningKey(_ id: SigningKeyID, neededUntil: Instant, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)
  {
    try await base.retireSigningKey(id, neededUntil: neededUntil, audit: entry, at: now)
  }

  func signingKeys() async throws(StoreError) -> [SigningKeyRecord] {
    try await base.signingKeys()
  }

  func loginFailures(of subject: LoginSubject) async throws(StoreError) -> LoginFailures? {
    try await base.loginFailures(of: subject)
  }

  func recordLoginFailure(of subject: LoginSubject, at now: Instant) async throws(StoreError) -> LoginFailures {
    try await base.recordLoginFailure(of: subject, at: now)
  }

  func clearLoginFailures(of subject: LoginSubject) async throws(StoreError) {
    try await base.clearLoginFailures(of: subject)
  }

  func permit(_ authentication: AuthenticationID, _ resource: ResourceID, at now: Instant) async throws(StoreError)
    -> PermitLookup
  {
    try await base.permit(authentication, resource, at: now)
  }

  func record(_ permit: Permit, at now: Instant) async throws(StoreError) -> Permit {
    try await base.record(permit, at: now)
  }

  func openTemporarily(_ authentication: AuthenticationID, _ resource: ResourceID, at now: Instant)
    async throws(StoreError) -> Permit
  {
    try await base.openTemporarily(authentication, resource, at: now)
  }

  func temporaryPass(requestor: RequestorID, provider: ProviderID, device: DeviceHash, identity: IdentityHash?)
    async throws(StoreError) -> TemporaryPassUse
  {
    try await base.temporaryPass(requestor: requestor, provider: provider, device: device, identity: identity)
  }

  func temporaryPasses(requestor: RequestorID?, provider: ProviderID?, after last: TemporaryPassCursor?, limit: Int)
    async throws(StoreError) -> [TemporaryPassRecord]
  {
    try await base.temporaryPasses(requestor: requestor, provider: provider, after: last, limit: limit)
  }

  func resetTemporaryPasses(
    requestor: RequestorID, provider: ProviderID, _ whose: TemporaryPassReset, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> Int {
    try await base.resetTemporaryPasses(requestor: requestor, provider: provider, whose, audit: entry, at: now)
  }

  func provisioning() async throws(StoreError) -> Provisioning {
    try await base.provisioning()
  }

  func account(_ provider: ProviderID, _ name: AccountName) async throws(StoreError) -> Account? {
    try await base.account(provider, name)
  }

  func accounts(_ provider: ProviderID, after name: AccountName?, limit: Int) async throws(StoreError) -> [Account] {
    try await base.accounts(provider, after: name, limit: limit)
  }

  func put(_ record: Provision, replacing seen: Provision?, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> [RegistrationChange]
  {
    try await base.put(record, replacing: seen, audit: entry, at: now)
  }

  func remove(_ id: ProvisionID, audit entry: AuditEntry?, at now: Instant) async throws(StoreError)
    -> [RegistrationChange]
  {
    try await base.remove(id, audit: entry, at: now)
  }

  func setPassword(
    _ phc: String, of name: AccountName, at provider: ProviderID, keeping session: SessionID?, audit entry: AuditEntry?,
    at now: Instant
  ) async throws(StoreError) -> [RegistrationChange] {
    try await base.setPassword(phc, of: name, at: provider, keeping: session, audit: entry, at: now)
  }

  func renewPassword(_ phc: String, replacing seen: String, of name: AccountName, at provider: ProviderID)
    async throws(StoreError)
  {
    try await base.renewPassword(phc, replacing: seen, of: name, at: provider)
  }

  func putAccounts(_ writes: [AccountWrite], at now: Instant) async throws(StoreError) -> [RegistrationChange] {
    try await base.putAccounts(writes, at: now)
  }

  func passwordForms(_ form: @escaping @Sendable (String) -> String?) async throws(StoreError)
    -> [ProviderID: Set<String>]
  {
    try await base.passwordForms(form)
  }

  func password(of name: AccountName, at provider: ProviderID) async throws(StoreError) -> String? {
    try await base.password(of: name, at: provider)
  }

  func register(_ client: ClientRecord, at now: Instant) async throws(StoreError) {
    try await base.register(client, at: now)
  }

  func client(_ id: ClientID) async throws(StoreError) -> ClientRecord? {
    try await base.client(id)
  }

  func startSession(
    _ record: SessionRecord, password seen: String?, replacing earlier: SessionID?, at now: Instant
  ) async throws(StoreError) -> [RegistrationChange] {
    try await base.startSession(record, password: seen, replacing: earlier, at: now)
  }

  func session(_ token: TokenHash, at now: Instant) async throws(StoreError) -> SessionRecord? {
    try await base.session(token, at: now)
  }

  func touchSession(_ id: SessionID, at now: Instant) async throws(StoreError) {
    try await base.touchSession(id, at: now)
  }

  func endSession(_ id: SessionID, audit entry: AuditEntry?, at now: Instant) async throws(StoreError)
    -> [RegistrationChange]?
  {
    try await base.endSession(id, audit: entry, at: now)
  }

  func sessions(of viewer: Viewer, at now: Instant) async throws(StoreError) -> [SessionRecord] {
    try await base.sessions(of: viewer, at: now)
  }

  func sessions(after id: SessionID?, limit: Int, at now: Instant) async throws(StoreError) -> [SessionRecord] {
    try await base.sessions(after: id, limit: limit, at: now)
  }

  func forgetExpired(at now: Instant, limit: Int, passes: Int, failures: Int) async throws(StoreError) -> Int {
    try await base.forgetExpired(at: now, limit: limit, passes: passes, failures: failures)
  }

  func tryWriting() async throws(StoreError) {
    try await base.tryWriting()
  }

  func keepNumbers(_ text: String, as kind: StoredCounters) async throws(StoreError) {
    try await base.keepNumbers(text, as: kind)
  }

  func keptNumbers(_ kind: StoredCounters) async throws(StoreError) -> String? {
    try await base.keptNumbers(kind)
  }
}

extension PlantedStore {
  func enrol(_ box: BoxRecord, at now: Instant) async throws(StoreError) { try await base.enrol(box, at: now) }

  func box(_ id: BoxID, at now: Instant) async throws(StoreError) -> BoxRecord? { try await base.box(id, at: now) }

  func exchange(_ exchange: PlatformExchange, at now: Instant) async throws(StoreError) -> StandingSignIn {
    try await base.exchange(exchange, at: now)
  }

  func decide(
    _ decision: PlatformPermissionRecord, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> Bool {
    try await base.decide(decision, audit: entry, at: now)
  }

  func decisions(of device: DeviceHash) async throws(StoreError) -> [PlatformPermissionRecord] {
    try await base.decisions(of: device)
  }

  func boxes(after id: BoxID?, limit: Int, at now: Instant) async throws(StoreError) -> [BoxOverview] {
    try await base.boxes(after: id, limit: limit, at: now)
  }

  func children(of parent: AuthenticationID, at now: Instant) async throws(StoreError) -> [AuthenticationRecord] {
    try await base.children(of: parent, at: now)
  }

  func invite(_ enrolment: EnrolmentRecord, audit entry: AuditEntry?, at now: Instant) async throws(StoreError) {
    try await base.invite(enrolment, audit: entry, at: now)
  }

  func enrolment(_ id: EnrolmentID, at now: Instant) async throws(StoreError) -> EnrolmentRecord? {
    try await base.enrolment(id, at: now)
  }

  func enrolments(at now: Instant) async throws(StoreError) -> [EnrolmentRecord] { try await base.enrolments(at: now) }

  func redeem(
    _ id: EnrolmentID, box: String, with pair: KeyPair, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> KeyPair {
    try await base.redeem(id, box: box, with: pair, audit: entry, at: now)
  }

  func revokeEnrolment(_ id: EnrolmentID, audit entry: AuditEntry?, at now: Instant) async throws(StoreError) {
    try await base.revokeEnrolment(id, audit: entry, at: now)
  }
}
