public import RegentPairing

/// How many forms of passwords are looked for at one provider.
///
/// The service allows a few; whoever can write the file could make as many as there are rows.
public let mostPasswordForms = 32

/// What operators make, and the passwords of local accounts.
public protocol ProvisioningStore: Sendable {
  /// Everything but the accounts, for keeping in memory.
  func provisioning() async throws(StoreError) -> Provisioning

  /// One account.
  func account(_ provider: ProviderID, _ name: AccountName) async throws(StoreError) -> Account?

  /// The accounts of a provider, in the order of their names.
  func accounts(_ provider: ProviderID, after name: AccountName?, limit: Int)
    async throws(StoreError) -> [Account]

  /// Writes a record, if the one that is there is what the caller has seen (`nil`: none).
  ///
  /// Guarantees: of two operators who change the same record at the same time, the second is told. Disabling an account
  /// ends its sessions. What a record refers to exists (an integration's requestor and provider, an account's, a rule's
  /// and an application's owner).
  /// - Returns: the registrations that ended sessions give back.
  /// - Throws: `changedMeanwhile`, `notFound`.
  func put(
    _ record: Provision, replacing seen: Provision?, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> [RegistrationChange]

  /// Writes accounts with passwords that were hashed elsewhere: all of them or, when one was changed meanwhile, none.
  ///
  /// Guarantees: what ``put(_:replacing:audit:at:)`` guarantees for each; a password that is there already stays.
  /// - Returns: the registrations that ended sessions give back.
  /// - Throws: `changedMeanwhile`, `notFound`.
  func putAccounts(_ writes: [AccountWrite], at now: Instant) async throws(StoreError) -> [RegistrationChange]

  /// Removes a record with all that stands on it: a requestor's keys, integrations, applications, clients, codes and
  /// sign-ins; a provider's accounts, rules, integrations, passes, sessions and sign-ins; an account's password, rules,
  /// sessions and sign-ins; an application's clients.
  ///
  /// - Returns: the registrations that ended sessions give back.
  /// - Throws: `notFound`.
  func remove(_ id: ProvisionID, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> [RegistrationChange]

  /// Sets an account's password (as a PHC string) and ends its sessions, except the one that asked for it.
  ///
  /// - Returns: the registrations that ended sessions give back.
  /// - Throws: `notFound`; of a viewer also `sessionEnded`, and `changedMeanwhile` when the password that she proved is
  ///   another one now.
  func setPassword(
    _ phc: String, of name: AccountName, at provider: ProviderID, by whom: PasswordSetter,
    audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> [RegistrationChange]

  /// Puts another hash of the same password in the place of one that was made with less work: no session ends, and
  /// nothing is written down, because nothing changed for anybody.
  ///
  /// Guarantees: a password that was changed meanwhile stays.
  func renewPassword(
    _ phc: String, replacing seen: String, of name: AccountName, at provider: ProviderID
  ) async throws(StoreError)

  /// In which forms the passwords of each provider are stored: what `form` makes of each text, where it makes something
  /// of it, and ``mostPasswordForms`` for each provider at most.
  func passwordForms(_ form: @escaping @Sendable (String) -> String?)
    async throws(StoreError) -> [ProviderID: Set<String>]

  /// An account's password, as a PHC string; none when there is no such account or it has none.
  func password(of name: AccountName, at provider: ProviderID) async throws(StoreError) -> String?
}

/// Clients that registered themselves.
public protocol ClientStore: Sendable {
  /// Keeps a new client of an application.
  ///
  /// Guarantees: the application exists and is not revoked at this moment.
  /// - Throws: `notFound`.
  func register(_ client: ClientRecord, at now: Instant) async throws(StoreError)

  /// A client, if its application is not revoked.
  func client(_ id: ClientID) async throws(StoreError) -> ClientRecord?
}

/// Who sets an account's password.
public enum PasswordSetter: Hashable, Sendable {
  /// An operator, who need not know the earlier one.
  case `operator`
  /// The viewer, in the browser of this session, which stays; she knew the password with this hash.
  case viewer(SessionID, proved: String)
}
