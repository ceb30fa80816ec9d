public import RegentPairing

/// A record that operators make: what is there before any device comes.
public enum Provision: Hashable, Sendable {
  /// A requestor.
  case requestor(Requestor)
  /// A provider.
  case provider(Provider)
  /// A requestor × provider.
  case integration(Integration)
  /// An account of a local provider.
  case account(Account)
  /// A rule of a provider.
  case entitlement(Entitlement)
  /// An application of a requestor.
  case application(ApplicationRecord)

  /// What it is found by.
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

/// One account of many that are written together.
public struct AccountWrite: Hashable, Sendable {
  public let account: Account
  /// What the writer has seen in its place.
  public let seen: Account?
  /// The hash of a password, for an account that has none.
  public let firstPassword: String?
  /// The line about it; none when nothing changes but what is there already.
  public let entry: AuditEntry?

  public init(_ account: Account, replacing seen: Account?, firstPassword: String?, audit entry: AuditEntry?) {
    self.account = account
    self.seen = seen
    self.firstPassword = firstPassword
    self.entry = entry
  }
}

/// What a provisioning record is found by.
public enum ProvisionID: Hashable, Sendable {
  /// A requestor.
  case requestor(RequestorID)
  /// A provider.
  case provider(ProviderID)
  /// A requestor × provider.
  case integration(RequestorID, ProviderID)
  /// An account of a provider.
  case account(ProviderID, AccountName)
  /// A rule.
  case entitlement(EntitlementID)
  /// An application.
  case application(StatementID)

  /// The kind's name, for messages.
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

/// Everything that operators made, except accounts: small enough to be kept in memory by the service.
public struct Provisioning: Hashable, Sendable {
  public var requestors: [RequestorID: Requestor] = [:]
  public var providers: [ProviderID: Provider] = [:]
  public var integrations: [RequestorID: [ProviderID: Integration]] = [:]
  /// All rules, by provider.
  public var entitlements: [ProviderID: [Entitlement]] = [:]
  public var applications: [StatementID: ApplicationRecord] = [:]
  /// All key pairs, revoked ones too: they tell a revoked key from an unknown one in the log.
  public var keyPairs: [PublicKey: KeyPair] = [:]

  /// Nothing yet.
  public init() {}

  /// The pair with which a requestor's new rows are signed.
  public func rowKey(of requestor: RequestorID) -> KeyPair? {
    keyPairs.values.filter {
      $0.requestor == requestor && $0.purpose == .rows && $0.state == .active
    }.max { ($0.created, $0.publicKey) < ($1.created, $1.publicKey) }
  }
}
