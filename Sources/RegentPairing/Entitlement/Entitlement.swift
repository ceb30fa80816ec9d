/// A rule at a provider: who may, or may not, watch what.
public struct Entitlement: Hashable, Sendable {
  /// Its own id.
  public let id: EntitlementID
  /// The provider whose rule it is.
  public let provider: ProviderID
  /// Whom it is about.
  public let scope: EntitlementScope
  /// What it is about.
  public let pattern: ResourcePattern
  /// Yes or no.
  public let effect: EntitlementEffect

  /// A rule of a provider.
  public init(
    id: EntitlementID, provider: ProviderID, scope: EntitlementScope, pattern: ResourcePattern,
    effect: EntitlementEffect
  ) {
    self.id = id
    self.provider = provider
    self.scope = scope
    self.pattern = pattern
    self.effect = effect
  }
}

/// Whom a rule is about.
public enum EntitlementScope: Hashable, Sendable {
  /// Everybody who signs in at the provider.
  case everybody
  /// The accounts of one household.
  case household(HouseholdID)
  /// One account.
  case account(AccountName)
}

/// What a rule says.
public enum EntitlementEffect: Hashable, Sendable {
  /// Yes.
  case allow
  /// No, and what the provider wants the viewer to read ("not in your package").
  case deny(message: String?)
}

extension Sequence where Element == Entitlement {
  /// The rule that decides about a resource for a viewer; none when no rule is about it.
  ///
  /// The most specific one wins: first by pattern (more characters named; at equal length the one without `*`), then by
  /// scope (account, household, everybody), and of two that still say different things the one that denies. So a
  /// provider denies `ppv-*` to everybody and opens `ppv-7` to those who bought it, and an account that may watch `*`
  /// still does not get what is denied by name.
  public func deciding(
    about resource: String, for account: AccountName?, in household: HouseholdID?
  ) -> Entitlement? {
    filter { $0.isAbout(account, household) && $0.pattern.matches(resource) }
      .max { $0.weight < $1.weight }
  }
}

extension Entitlement {
  fileprivate func isAbout(_ account: AccountName?, _ household: HouseholdID?) -> Bool {
    switch scope {
    case .everybody: true
    case .household(let one): one == household
    case .account(let one): one == account
    }
  }

  /// Larger wins; compared part by part.
  fileprivate var weight: (Int, Int, Int, Int) {
    let scopeWeight =
      switch scope {
      case .everybody: 0
      case .household: 1
      case .account: 2
      }
    return (pattern.literalLength, pattern.isExact ? 1 : 0, scopeWeight, effect == .allow ? 0 : 1)
  }
}
