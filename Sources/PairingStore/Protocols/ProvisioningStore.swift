public import RegentPairing

/// The maximum number of password-hash formats that are looked up for one provider.
///
/// The service itself writes only a few formats, but an attacker who can write the database file could put a different
/// one into every row.
public let mostPasswordForms = 32

/// The part of the store for records that operators create, and for the passwords of local accounts.
public protocol ProvisioningStore: Sendable {
  /// All provisioning records except accounts.
  ///
  /// The service keeps them in memory.
  func provisioning() async throws(StoreError) -> Provisioning

  func account(_ provider: ProviderID, _ name: AccountName) async throws(StoreError) -> Account?

  /// Lists the accounts of a provider, sorted by name.
  func accounts(_ provider: ProviderID, after name: AccountName?, limit: Int)
    async throws(StoreError) -> [Account]

  /// Writes a provisioning record, if the stored record equals `seen` (nil: no record is stored).
  ///
  /// Guarantees: of two operators who change the same record at the same time, the second gets `changedMeanwhile`.
  /// Disabling an account ends its sessions. Records that the new one refers to exist: the requestor and provider of an
  /// integration, the provider of an account or rule, the requestor of an application.
  /// - Returns: the registrations whose claims ended with those sessions.
  /// - Throws: `changedMeanwhile`, `notFound`.
  func put(
    _ record: Provision, replacing seen: Provision?, audit entry: AuditEntry?, at now: Instant
  ) async throws(StoreError) -> [RegistrationChange]

  /// Writes accounts with passwords that another system has hashed.
  ///
  /// It writes all accounts, or none when one of them has changed since the caller read it.
  ///
  /// Guarantees: those of ``put(_:replacing:audit:at:)`` for each account. An existing password stays.
  /// - Returns: the registrations whose claims ended with ended sessions.
  /// - Throws: `changedMeanwhile`, `notFound`.
  func putAccounts(_ writes: [AccountWrite], at now: Instant) async throws(StoreError) -> [RegistrationChange]

  /// Removes a provisioning record with all records that depend on it.
  ///
  /// A requestor: its keys, integrations, applications, clients, codes and sign-ins. A provider: its accounts, rules,
  /// integrations, passes, sessions and sign-ins. An account: its password, rules, sessions and sign-ins. An
  /// application: its clients.
  ///
  /// - Returns: the registrations whose claims ended with ended sessions.
  /// - Throws: `notFound`.
  func remove(_ id: ProvisionID, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> [RegistrationChange]

  /// Sets the password hash of an account (a PHC string) and ends the account's sessions, except the one in which the
  /// viewer changed the password.
  ///
  /// - Returns: the registrations whose claims ended with those sessions.
  /// - Throws: `notFound`; for a viewer also `sessionEnded`, and `changedMeanwhile` when the stored password is no
  ///   longer the one that the viewer entered as the old one.
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

  /// The formats of the stored password hashes, by provider.
  ///
  /// `form` extracts the format of a hash, or returns nil. At most ``mostPasswordForms`` formats are returned for each
  /// provider.
  func passwordForms(_ form: @escaping @Sendable (String) -> String?)
    async throws(StoreError) -> [ProviderID: Set<String>]

  /// The password hash of an account as a PHC string; nil when the account does not exist or has no password.
  func password(of name: AccountName, at provider: ProviderID) async throws(StoreError) -> String?
}

/// The part of the store for installations of applications that registered themselves with a software statement at a
/// release up to 0.1.0.
///
/// Later releases derive a client from its id and store no row.
public protocol ClientStore: Sendable {
  /// Stores an installation of an application as a new client.
  ///
  /// Guarantees: the application exists and is not revoked.
  /// - Throws: `notFound`.
  func register(_ client: ClientRecord, at now: Instant) async throws(StoreError)

  /// Reads a client; nil when it does not exist or its application is revoked.
  func client(_ id: ClientID) async throws(StoreError) -> ClientRecord?
}

public enum PasswordSetter: Hashable, Sendable {
  /// An operator changes the password, and need not know the earlier one.
  case `operator`
  /// The viewer changes the password in the browser of this session, which stays signed in.
  ///
  /// `proved` is the hash of the password that the viewer entered as the old one.
  case viewer(SessionID, proved: String)
}
