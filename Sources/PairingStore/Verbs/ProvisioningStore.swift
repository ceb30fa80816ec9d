public import RegentPairing

/// The maximum number of password-hash formats that are looked up for one provider.
///
/// The service allows only a few. An attacker who can write the database file could add a different one in every row.
public let mostPasswordForms = 32

/// Records that operators create, and the passwords of local accounts.
public protocol ProvisioningStore: Sendable {
  /// All provisioning records except accounts, for the service's memory.
  func provisioning() async throws(StoreError) -> Provisioning

  func account(_ provider: ProviderID, _ name: AccountName) async throws(StoreError) -> Account?

  /// Accounts of a provider, sorted by name.
  func accounts(_ provider: ProviderID, after name: AccountName?, limit: Int)
    async throws(StoreError) -> [Account]

  /// Writes a record, if the stored one equals `seen` (nil: there is none).
  ///
  /// Guarantees: of two operators who change the same record at the same time, the second gets `changedMeanwhile`.
  /// Disabling an account ends its sessions. The records that it refers to exist: the requestor and provider of an
  /// integration, the provider of an account or rule, the requestor of an application.
  /// - Returns: the registrations whose claims ended with those sessions.
  /// - Throws: `changedMeanwhile`, `notFound`.
  func put(
    _ record: Provision, replacing seen: Provision?, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> [RegistrationChange]

  /// Writes accounts with passwords that another system hashed: all of them, or none when one has changed since the
  /// caller read it.
  ///
  /// Guarantees: those of ``put(_:replacing:audit:at:)`` for each account. An existing password stays.
  /// - Returns: the registrations whose claims ended with ended sessions.
  /// - Throws: `changedMeanwhile`, `notFound`.
  func putAccounts(_ writes: [AccountWrite], at now: Instant) async throws(StoreError) -> [RegistrationChange]

  /// Removes a record with all records that depend on it.
  ///
  /// A requestor: its keys, integrations, applications, clients, codes and sign-ins. A provider: its accounts, rules,
  /// integrations, passes, sessions and sign-ins. An account: its password, rules, sessions and sign-ins. An
  /// application: its clients.
  ///
  /// - Returns: the registrations whose claims ended with ended sessions.
  /// - Throws: `notFound`.
  func remove(_ id: ProvisionID, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> [RegistrationChange]

  /// Sets the password hash of an account (a PHC string) and ends its sessions, except the one that made the change.
  ///
  /// - Returns: the registrations whose claims ended with those sessions.
  /// - Throws: `notFound`; for a viewer also `sessionEnded`, and `changedMeanwhile` when the password that the viewer
  ///   proved is not the stored one any more.
  func setPassword(
    _ phc: String, of name: AccountName, at provider: ProviderID, by whom: PasswordSetter,
    audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> [RegistrationChange]

  /// Replaces the hash of a password by a stronger hash of the same password.
  ///
  /// No session ends and no audit line is written, because nothing changes for the viewer.
  ///
  /// Guarantees: does nothing when the password was changed meanwhile.
  func renewPassword(
    _ phc: String, replacing seen: String, of name: AccountName, at provider: ProviderID
  ) async throws(StoreError)

  /// The formats of the stored password hashes, by provider: the non-nil results of `form`, at most
  /// ``mostPasswordForms`` for each provider.
  func passwordForms(_ form: @escaping @Sendable (String) -> String?)
    async throws(StoreError) -> [ProviderID: Set<String>]

  /// The password hash of an account as a PHC string; nil when the account does not exist or has no password.
  func password(of name: AccountName, at provider: ProviderID) async throws(StoreError) -> String?
}

/// Installations of applications that registered themselves with a software statement.
public protocol ClientStore: Sendable {
  /// Stores a new client of an application.
  ///
  /// Guarantees: the application exists and is not revoked.
  /// - Throws: `notFound`.
  func register(_ client: ClientRecord, at now: Instant) async throws(StoreError)

  /// A client, unless its application is revoked.
  func client(_ id: ClientID) async throws(StoreError) -> ClientRecord?
}

public enum PasswordSetter: Hashable, Sendable {
  /// An operator, who need not know the earlier password.
  case `operator`
  /// The viewer, in the browser of this session, which stays signed in.
  ///
  /// `proved` is the hash of the password that the viewer entered as the old one.
  case viewer(SessionID, proved: String)
}
