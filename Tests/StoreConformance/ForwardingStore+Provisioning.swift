public import PairingStore
public import RegentPairing

extension ForwardingStore {
  public func invite(_ invitation: ClientInvitationRecord, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)
  {
    try await target.invite(invitation, audit: entry, at: now)
  }

  public func clientInvitation(_ token: TokenHash, at now: Instant) async throws(StoreError) -> ClientInvitationRecord?
  {
    try await target.clientInvitation(token, at: now)
  }

  public func clientInvitations(at now: Instant) async throws(StoreError) -> [ClientInvitationRecord] {
    try await target.clientInvitations(at: now)
  }

  public func register(
    _ client: OAuthClientRecord, invitedBy token: TokenHash, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) {
    try await target.register(client, invitedBy: token, audit: entry, at: now)
  }

  public func revokeClientInvitation(_ id: EnrolmentID, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)
  {
    try await target.revokeClientInvitation(id, audit: entry, at: now)
  }
}

extension ForwardingStore {
  public func invite(_ enrolment: EnrolmentRecord, audit entry: AuditEntry?, at now: Instant) async throws(StoreError) {
    try await target.invite(enrolment, audit: entry, at: now)
  }

  public func enrolment(_ id: EnrolmentID, at now: Instant) async throws(StoreError) -> EnrolmentRecord? {
    try await target.enrolment(id, at: now)
  }

  public func enrolments(at now: Instant) async throws(StoreError) -> [EnrolmentRecord] {
    try await target.enrolments(at: now)
  }

  public func redeem(_ id: EnrolmentID, box: String, with pair: KeyPair, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> KeyPair
  {
    try await target.redeem(id, box: box, with: pair, audit: entry, at: now)
  }

  public func revokeEnrolment(_ id: EnrolmentID, audit entry: AuditEntry?, at now: Instant) async throws(StoreError) {
    try await target.revokeEnrolment(id, audit: entry, at: now)
  }
}

extension ForwardingStore {
  public func put(
    _ client: OAuthClientRecord, replacing seen: OAuthClientRecord?, in room: ClientRoom, audit entry: AuditEntry?,
    at now: Instant
  ) async throws(StoreError) {
    try await target.put(client, replacing: seen, in: room, audit: entry, at: now)
  }

  public func oauthClient(_ id: ClientID) async throws(StoreError) -> OAuthClientRecord? {
    try await target.oauthClient(id)
  }

  public func oauthClients(of requestor: RequestorID?, after id: ClientID?, limit: Int) async throws(StoreError)
    -> [OAuthClientRecord]
  {
    try await target.oauthClients(of: requestor, after: id, limit: limit)
  }

  public func removeOAuthClient(_ id: ClientID, audit entry: AuditEntry?, at now: Instant) async throws(StoreError)
    -> [AuthenticationRecord]
  {
    try await target.removeOAuthClient(id, audit: entry, at: now)
  }

  public func keep(_ grant: GrantRecord, at now: Instant) async throws(StoreError) -> GrantRecord {
    try await target.keep(grant, at: now)
  }

  public func rotate(_ grant: GrantRecord, at now: Instant) async throws(StoreError) -> GrantRecord {
    try await target.rotate(grant, at: now)
  }

  public func rotate(
    _ grant: GrantRecord, seen: GrantVersion?, at now: Instant
  ) async throws(StoreError) -> GrantRecord {
    try await target.rotate(grant, seen: seen, at: now)
  }

  public func prolong(_ grant: GrantRecord, at now: Instant) async throws(StoreError) {
    try await target.prolong(grant, at: now)
  }

  public var standingMark: UInt64? { target.standingMark }

  public func grant(_ id: GrantID, at now: Instant) async throws(StoreError) -> ValidGrant? {
    try await target.grant(id, at: now)
  }

  public func grants(_ filter: GrantFilter, after id: GrantID?, limit: Int, at now: Instant) async throws(StoreError)
    -> [GrantRecord]
  {
    try await target.grants(filter, after: id, limit: limit, at: now)
  }

  public func endGrants(_ filter: GrantFilter, audit entry: AuditEntry?, at now: Instant) async throws(StoreError)
    -> [AuthenticationRecord]
  {
    try await target.endGrants(filter, audit: entry, at: now)
  }
}

extension ForwardingStore {
  public func keyMaterial(for purpose: KeyPurpose) async throws(StoreError) -> StoredSecret {
    try await target.keyMaterial(for: purpose)
  }

  public func add(_ pair: KeyPair, audit entry: AuditEntry?, at now: Instant) async throws(StoreError) {
    try await target.add(pair, audit: entry, at: now)
  }

  public func setState(of publicKey: PublicKey, to state: KeyPair.State, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)
  {
    try await target.setState(of: publicKey, to: state, audit: entry, at: now)
  }

  public func add(_ key: SigningKeyRecord, audit entry: AuditEntry?, at now: Instant) async throws(StoreError) {
    try await target.add(key, audit: entry, at: now)
  }

  public func retireSigningKey(_ id: SigningKeyID, neededUntil: Instant, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)
  {
    try await target.retireSigningKey(id, neededUntil: neededUntil, audit: entry, at: now)
  }

  public func signingKeys() async throws(StoreError) -> [SigningKeyRecord] {
    try await target.signingKeys()
  }
}

extension ForwardingStore {
  public func loginFailures(of subject: LoginSubject) async throws(StoreError) -> LoginFailures? {
    try await target.loginFailures(of: subject)
  }

  public func recordLoginFailure(of subject: LoginSubject, at now: Instant) async throws(StoreError) -> LoginFailures {
    try await target.recordLoginFailure(of: subject, at: now)
  }

  public func takeLoginTry(of subject: LoginSubject, free: Int, at now: Instant) async throws(StoreError) -> LoginTry? {
    try await target.takeLoginTry(of: subject, free: free, at: now)
  }

  public func giveBack(_ counted: LoginTry, of subject: LoginSubject) async throws(StoreError) {
    try await target.giveBack(counted, of: subject)
  }

  public func clearLoginFailures(of subject: LoginSubject) async throws(StoreError) {
    try await target.clearLoginFailures(of: subject)
  }
}

extension ForwardingStore {
  public func provisioning() async throws(StoreError) -> Provisioning {
    try await target.provisioning()
  }

  public func account(_ provider: ProviderID, _ name: AccountName) async throws(StoreError) -> Account? {
    try await target.account(provider, name)
  }

  public func accounts(_ provider: ProviderID, after name: AccountName?, limit: Int) async throws(StoreError)
    -> [Account]
  {
    try await target.accounts(provider, after: name, limit: limit)
  }

  public func put(_ record: Provision, replacing seen: Provision?, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> [RegistrationChange]
  {
    try await target.put(record, replacing: seen, audit: entry, at: now)
  }

  public func putAccounts(_ writes: [AccountWrite], at now: Instant) async throws(StoreError) -> [RegistrationChange] {
    try await target.putAccounts(writes, at: now)
  }

  public func remove(_ id: ProvisionID, audit entry: AuditEntry?, at now: Instant) async throws(StoreError)
    -> [RegistrationChange]
  {
    try await target.remove(id, audit: entry, at: now)
  }

  public func setPassword(
    _ phc: String, of name: AccountName, at provider: ProviderID, by whom: PasswordSetter, audit entry: AuditEntry?,
    at now: Instant
  ) async throws(StoreError) -> [RegistrationChange] {
    try await target.setPassword(phc, of: name, at: provider, by: whom, audit: entry, at: now)
  }

  public func renewPassword(_ phc: String, replacing seen: String, of name: AccountName, at provider: ProviderID)
    async throws(StoreError)
  {
    try await target.renewPassword(phc, replacing: seen, of: name, at: provider)
  }

  public func passwordForms(_ form: @escaping @Sendable (String) -> String?) async throws(StoreError) -> [ProviderID:
    Set<String>]
  {
    try await target.passwordForms(form)
  }

  public func password(of name: AccountName, at provider: ProviderID) async throws(StoreError) -> String? {
    try await target.password(of: name, at: provider)
  }
}

extension ForwardingStore {
  public func register(_ client: ClientRecord, at now: Instant) async throws(StoreError) {
    try await target.register(client, at: now)
  }

  public func client(_ id: ClientID) async throws(StoreError) -> ClientRecord? {
    try await target.client(id)
  }
}

extension ForwardingStore {
  public func forgetExpired(at now: Instant, limit: Int, passes: Int, failures: Int) async throws(StoreError) -> Int {
    try await target.forgetExpired(at: now, limit: limit, passes: passes, failures: failures)
  }

  public func tryWriting() async throws(StoreError) {
    try await target.tryWriting()
  }

  public func keepNumbers(_ text: String, as kind: StoredCounters, of node: NodeID?) async throws(StoreError) {
    try await target.keepNumbers(text, as: kind, of: node)
  }

  public func keptNumbers(_ kind: StoredCounters, of node: NodeID?) async throws(StoreError) -> String? {
    try await target.keptNumbers(kind, of: node)
  }

  public func keptNumbersOfNodes(_ kind: StoredCounters) async throws(StoreError) -> [NodeID: String] {
    try await target.keptNumbersOfNodes(kind)
  }
}
