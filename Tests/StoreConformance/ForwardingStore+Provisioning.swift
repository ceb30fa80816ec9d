public import PairingStore
public import RegentPairing

extension HandlesInTurn {
  public func invite(_ invitation: ClientInvitationRecord, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)
  {
    try await next.invite(invitation, audit: entry, at: now)
  }

  public func clientInvitation(_ token: TokenHash, at now: Instant) async throws(StoreError) -> ClientInvitationRecord?
  {
    try await next.clientInvitation(token, at: now)
  }

  public func clientInvitations(at now: Instant) async throws(StoreError) -> [ClientInvitationRecord] {
    try await next.clientInvitations(at: now)
  }

  public func register(
    _ client: OAuthClientRecord, invitedBy token: TokenHash, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) {
    try await next.register(client, invitedBy: token, audit: entry, at: now)
  }

  public func revokeClientInvitation(_ id: EnrolmentID, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)
  {
    try await next.revokeClientInvitation(id, audit: entry, at: now)
  }
}

extension HandlesInTurn {
  public func invite(_ enrolment: EnrolmentRecord, audit entry: AuditEntry?, at now: Instant) async throws(StoreError) {
    try await next.invite(enrolment, audit: entry, at: now)
  }

  public func enrolment(_ id: EnrolmentID, at now: Instant) async throws(StoreError) -> EnrolmentRecord? {
    try await next.enrolment(id, at: now)
  }

  public func enrolments(at now: Instant) async throws(StoreError) -> [EnrolmentRecord] {
    try await next.enrolments(at: now)
  }

  public func redeem(_ id: EnrolmentID, box: String, with pair: KeyPair, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> KeyPair
  {
    try await next.redeem(id, box: box, with: pair, audit: entry, at: now)
  }

  public func revokeEnrolment(_ id: EnrolmentID, audit entry: AuditEntry?, at now: Instant) async throws(StoreError) {
    try await next.revokeEnrolment(id, audit: entry, at: now)
  }
}

extension HandlesInTurn {
  public func put(
    _ client: OAuthClientRecord, replacing seen: OAuthClientRecord?, in room: ClientRoom, audit entry: AuditEntry?,
    at now: Instant
  ) async throws(StoreError) {
    try await next.put(client, replacing: seen, in: room, audit: entry, at: now)
  }

  public func oauthClient(_ id: ClientID) async throws(StoreError) -> OAuthClientRecord? {
    try await next.oauthClient(id)
  }

  public func oauthClients(of requestor: RequestorID?, after id: ClientID?, limit: Int) async throws(StoreError)
    -> [OAuthClientRecord]
  {
    try await next.oauthClients(of: requestor, after: id, limit: limit)
  }

  public func removeOAuthClient(_ id: ClientID, audit entry: AuditEntry?, at now: Instant) async throws(StoreError)
    -> [AuthenticationRecord]
  {
    try await next.removeOAuthClient(id, audit: entry, at: now)
  }

  public func keep(_ grant: GrantRecord, at now: Instant) async throws(StoreError) -> GrantRecord {
    try await next.keep(grant, at: now)
  }

  public func rotate(_ grant: GrantRecord, at now: Instant) async throws(StoreError) -> GrantRecord {
    try await next.rotate(grant, at: now)
  }

  public func grant(_ id: GrantID, at now: Instant) async throws(StoreError) -> StandingGrant? {
    try await next.grant(id, at: now)
  }

  public func grants(_ filter: GrantFilter, after id: GrantID?, limit: Int, at now: Instant) async throws(StoreError)
    -> [GrantRecord]
  {
    try await next.grants(filter, after: id, limit: limit, at: now)
  }

  public func endGrants(_ filter: GrantFilter, audit entry: AuditEntry?, at now: Instant) async throws(StoreError)
    -> [AuthenticationRecord]
  {
    try await next.endGrants(filter, audit: entry, at: now)
  }
}

extension HandlesInTurn {
  public func keyMaterial(for purpose: KeyPurpose) async throws(StoreError) -> StoredSecret {
    try await next.keyMaterial(for: purpose)
  }

  public func add(_ pair: KeyPair, audit entry: AuditEntry?, at now: Instant) async throws(StoreError) {
    try await next.add(pair, audit: entry, at: now)
  }

  public func setState(of publicKey: PublicKey, to state: KeyPair.State, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)
  {
    try await next.setState(of: publicKey, to: state, audit: entry, at: now)
  }

  public func add(_ key: SigningKeyRecord, audit entry: AuditEntry?, at now: Instant) async throws(StoreError) {
    try await next.add(key, audit: entry, at: now)
  }

  public func retireSigningKey(_ id: SigningKeyID, neededUntil: Instant, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError)
  {
    try await next.retireSigningKey(id, neededUntil: neededUntil, audit: entry, at: now)
  }

  public func signingKeys() async throws(StoreError) -> [SigningKeyRecord] {
    try await next.signingKeys()
  }
}

extension HandlesInTurn {
  public func loginFailures(of subject: LoginSubject) async throws(StoreError) -> LoginFailures? {
    try await next.loginFailures(of: subject)
  }

  public func recordLoginFailure(of subject: LoginSubject, at now: Instant) async throws(StoreError) -> LoginFailures {
    try await next.recordLoginFailure(of: subject, at: now)
  }

  public func clearLoginFailures(of subject: LoginSubject) async throws(StoreError) {
    try await next.clearLoginFailures(of: subject)
  }
}

extension HandlesInTurn {
  public func provisioning() async throws(StoreError) -> Provisioning {
    try await next.provisioning()
  }

  public func account(_ provider: ProviderID, _ name: AccountName) async throws(StoreError) -> Account? {
    try await next.account(provider, name)
  }

  public func accounts(_ provider: ProviderID, after name: AccountName?, limit: Int) async throws(StoreError)
    -> [Account]
  {
    try await next.accounts(provider, after: name, limit: limit)
  }

  public func put(_ record: Provision, replacing seen: Provision?, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> [RegistrationChange]
  {
    try await next.put(record, replacing: seen, audit: entry, at: now)
  }

  public func putAccounts(_ writes: [AccountWrite], at now: Instant) async throws(StoreError) -> [RegistrationChange] {
    try await next.putAccounts(writes, at: now)
  }

  public func remove(_ id: ProvisionID, audit entry: AuditEntry?, at now: Instant) async throws(StoreError)
    -> [RegistrationChange]
  {
    try await next.remove(id, audit: entry, at: now)
  }

  public func setPassword(
    _ phc: String, of name: AccountName, at provider: ProviderID, by whom: PasswordSetter, audit entry: AuditEntry?,
    at now: Instant
  ) async throws(StoreError) -> [RegistrationChange] {
    try await next.setPassword(phc, of: name, at: provider, by: whom, audit: entry, at: now)
  }

  public func renewPassword(_ phc: String, replacing seen: String, of name: AccountName, at provider: ProviderID)
    async throws(StoreError)
  {
    try await next.renewPassword(phc, replacing: seen, of: name, at: provider)
  }

  public func passwordForms(_ form: @escaping @Sendable (String) -> String?) async throws(StoreError) -> [ProviderID:
    Set<String>]
  {
    try await next.passwordForms(form)
  }

  public func password(of name: AccountName, at provider: ProviderID) async throws(StoreError) -> String? {
    try await next.password(of: name, at: provider)
  }
}

extension HandlesInTurn {
  public func register(_ client: ClientRecord, at now: Instant) async throws(StoreError) {
    try await next.register(client, at: now)
  }

  public func client(_ id: ClientID) async throws(StoreError) -> ClientRecord? {
    try await next.client(id)
  }
}

extension HandlesInTurn {
  public func forgetExpired(at now: Instant, limit: Int, passes: Int, failures: Int) async throws(StoreError) -> Int {
    try await next.forgetExpired(at: now, limit: limit, passes: passes, failures: failures)
  }

  public func tryWriting() async throws(StoreError) {
    try await next.tryWriting()
  }

  public func keepNumbers(_ text: String, as kind: StoredCounters) async throws(StoreError) {
    try await next.keepNumbers(text, as: kind)
  }

  public func keptNumbers(_ kind: StoredCounters) async throws(StoreError) -> String? {
    try await next.keptNumbers(kind)
  }
}
