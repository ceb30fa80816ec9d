/// A provider's rule that allows or denies viewers a set of resources.
public struct Entitlement: Hashable, Sendable {
  public let id: EntitlementID
  public let provider: ProviderID
  /// The viewers to whom the rule applies.
  public let scope: EntitlementScope
  /// The resources to which the rule applies.
  public let pattern: ResourcePattern
  public let effect: EntitlementEffect

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

/// The viewers to whom an entitlement rule applies.
public enum EntitlementScope: Hashable, Sendable {
  /// The rule applies to all viewers of the provider.
  case everybody
  case household(HouseholdID)
  case account(AccountName)
}

public enum EntitlementEffect: Hashable, Sendable {
  case allow
  /// The rule denies the resource, with an optional message for the viewer ("not in your package").
  case deny(message: String?)
}

extension Sequence where Element == Entitlement {
  /// The rule that decides about a resource for a viewer; nil if no rule applies.
  ///
  /// The most specific rule wins: first by pattern (more literal characters; at equal length the pattern without `*`),
  /// then by scope (account, then household, then all viewers). If two equally specific rules differ, the denying one
  /// wins. Example: a provider denies `ppv-*` to everybody and allows `ppv-7` to the accounts that bought it. A rule
  /// that allows `*` to an account does not override a rule that denies one resource by its name.
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

  /// The precedence of the rule.
  ///
  /// The tuples are compared element by element, and the rule with the larger tuple wins.
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
