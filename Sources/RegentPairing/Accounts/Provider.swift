/// A company or service whose viewers sign in, such as a TV provider.
public struct Provider: Hashable, Sendable {
  public let id: ProviderID
  /// The name that viewers read.
  public var name: String
  /// How viewers sign in: with an account, or with a temporary pass.
  public var kind: ProviderKind
  /// The URL of the provider's logo.
  public var logo: String?
  /// Whether provider pickers list this provider first.
  public var featured: Bool
  /// How the provider takes part in the box's shared account (platform sign-on).
  public var boarding: BoardingStatus
  /// The provider's id in the list of providers of the box's shared account (the platform).
  public var platformID: String?
  /// Whether the provider's sign-in pages must open in a browser sheet whose contents the app cannot read.
  public var secureSheet: Bool
  /// Whether viewers may change their passwords on the phone.
  ///
  /// An account's own setting has precedence; nil means yes.
  public var mayChangePasswords: Bool?

  public init(
    id: ProviderID, name: String, kind: ProviderKind, logo: String? = nil,
    featured: Bool = false, boarding: BoardingStatus = .none, platformID: String? = nil,
    secureSheet: Bool = false, mayChangePasswords: Bool? = nil
  ) {
    self.id = id
    self.name = name
    self.kind = kind
    self.logo = logo
    self.featured = featured
    self.boarding = boarding
    self.platformID = platformID
    self.secureSheet = secureSheet
    self.mayChangePasswords = mayChangePasswords
  }

  /// Whether the service stores accounts with passwords for this provider.
  public var hasAccounts: Bool {
    switch kind {
    case .local: true
    case .temporary: false
    }
  }

  /// The rules of the temporary pass; nil if the provider has accounts.
  public var temporaryPass: TemporaryPassRules? {
    if case .temporary(let rules) = kind { rules } else { nil }
  }
}

/// How a provider signs viewers in.
///
/// To add a kind, follow the compiler's errors: `hasAccounts` above, the admin record (`ProviderRecord`), the database
/// row (`ProvisioningTables`) and `regentctl provider`. The compiler does not find code that tests `hasAccounts` or
/// `temporaryPass`; check each such place by hand.
public enum ProviderKind: Hashable, Sendable {
  /// The viewer has an account with a password, stored by this service.
  case local
  /// The viewer has no account and may watch for a limited time or a limited number of titles.
  case temporary(TemporaryPassRules)
}

/// How a provider takes part in the box's shared account: one sign-in of the box that all its apps may use.
public enum BoardingStatus: String, Hashable, Sendable, CaseIterable {
  /// The provider does not support the box's shared account.
  case none
  /// The picker for the box's shared account lists the provider, but each app signs in by itself with a code.
  case picker
  /// The viewer signs in once for the whole box, and apps use that sign-in.
  case supported
}
