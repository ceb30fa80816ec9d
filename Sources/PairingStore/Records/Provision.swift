public import RegentPairing

/// A record that operators create, as opposed to devices or viewers.
public enum Provision: Hashable, Sendable {
  case requestor(Requestor)
  case provider(Provider)
  case integration(Integration)
  case account(Account)
  case entitlement(Entitlement)
  case application(ApplicationRecord)

  public var id: ProvisionID {
    switch self {
    case .requestor(let one): .requestor(one.id)
    case .provider(let one): .provider(one.id)
    case .integration(let one): .integration(one.requestor, one.provider)
    case .account(let one): .account(one.provider, one.name)
    case .entitlement(let one): .entitlement(one.id)
    case .application(let one): .application(one.id)
    }
  }
}

/// One account of a batch that is written together.
public struct AccountWrite: Hashable, Sendable {
  public let account: Account
  /// The account as the caller has read it; nil when it did not exist.
  ///
  /// The write fails if the stored account has changed since.
  public let seen: Account?
  /// The password hash to store if the account has no password yet.
  public let firstPassword: String?
  /// The audit line for this account; nil when this write changes nothing.
  public let entry: AuditEntry?

  public init(_ account: Account, replacing seen: Account?, firstPassword: String?, audit entry: AuditEntry?) {
    self.account = account
    self.seen = seen
    self.firstPassword = firstPassword
    self.entry = entry
  }
}

/// The key of a provisioning record (a record that operators create).
public enum ProvisionID: Hashable, Sendable {
  case requestor(RequestorID)
  case provider(ProviderID)
  case integration(RequestorID, ProviderID)
  case account(ProviderID, AccountName)
  case entitlement(EntitlementID)
  case application(StatementID)

  /// The kind of the provisioning record, as messages name it.
  public var kind: String {
    switch self {
    case .requestor: "requestor"
    case .provider: "provider"
    case .integration: "integration"
    case .account: "account"
    case .entitlement: "entitlement"
    case .application: "application"
    }
  }
}

/// All records that operators create, except accounts.
///
/// They are few enough for the service to keep them in memory.
public struct Provisioning: Hashable, Sendable {
  public var requestors: [RequestorID: Requestor] = [:]
  public var providers: [ProviderID: Provider] = [:]
  public var integrations: [RequestorID: [ProviderID: Integration]] = [:]
  public var entitlements: [ProviderID: [Entitlement]] = [:]
  public var applications: [StatementID: ApplicationRecord] = [:]
  /// All key pairs, including revoked ones, so that the log can tell a revoked key from an unknown one.
  public var keyPairs: [PublicKey: KeyPair] = [:]

  public init() {}

  /// The requestor's newest active key pair for signing database rows.
  ///
  /// It signs the requestor's new rows.
  public func rowKey(of requestor: RequestorID) -> KeyPair? {
    keyPairs.values.filter {
      $0.requestor == requestor && $0.purpose == .rows && $0.state == .active
    }.max { ($0.created, $0.publicKey) < ($1.created, $1.publicKey) }
  }
}
