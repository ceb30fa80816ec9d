/// Whom a viewer signs in with.
public struct Provider: Hashable, Sendable {
  public let id: ProviderID
  /// What viewers read.
  public var name: String
  /// How it signs viewers in.
  public var kind: ProviderKind
  /// Where its logo is.
  public var logo: String?
  /// Whether pickers show it first.
  public var featured: Bool
  /// Its part in platform sign-on.
  public var boarding: BoardingStatus
  /// The platform's id for it.
  public var platformID: String?
  /// Whether its pages want a browser sheet that the app cannot look into.
  public var secureSheet: Bool
  /// Whether viewers may change their passwords on the phone, where their account does not say otherwise; nil is yes.
  public var mayChangePasswords: Bool?

  /// A provider; what is not said has the usual value.
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

  /// Whether its viewers have accounts with passwords, kept here.
  public var hasAccounts: Bool {
    switch kind {
    case .local: true
    case .temporary: false
    }
  }

  /// The rules of its temporary pass, when it is that kind.
  public var temporaryPass: TemporaryPassRules? {
    if case .temporary(let rules) = kind { rules } else { nil }
  }
}

/// How a provider signs viewers in.
///
/// Whoever adds a kind is led by the compiler: to `hasAccounts` above, the admin record (`ProviderRecord`), the row
/// (`ProvisioningTables`) and `regentctl provider`. What asks for `hasAccounts` or `temporaryPass` has to be looked at.
public enum ProviderKind: Hashable, Sendable {
  /// Accounts with passwords, kept here.
  case local
  /// No account at all, for a while.
  case temporary(TemporaryPassRules)
}

/// A provider's part in the system-wide sign-on of a platform.
public enum BoardingStatus: String, Hashable, Sendable, CaseIterable {
  /// None.
  case none
  /// Shown in the platform's picker; signs in by the regular flow.
  case picker
  /// Full platform sign-on.
  case supported
}
