/// What an app wants to show, as far as the rules can see into it.
public struct RequestedResource: Hashable, Sendable {
  /// As the app named it: what permits, tokens and answers repeat.
  public let id: ResourceID
  /// What patterns and line-ups are compared with: the plain name, or the channel's title of a Media RSS fragment.
  public let name: String
  /// The ratings that the fragment carries.
  public let ratings: [ParentalRating]

  /// A resource with what was read out of it; a plain name stands for itself.
  public init(_ id: ResourceID, name: String? = nil, ratings: [ParentalRating] = []) {
    self.id = id
    self.name = name ?? id.text
    self.ratings = ratings
  }
}

/// Why somebody may watch.
public enum AuthorizationSource: Hashable, Sendable {
  /// A rule of the provider.
  case entitlement
  /// A channel of the account's line-up.
  case lineUp
  /// A temporary pass.
  case temporaryPass
  /// The provider is out of order and everybody may.
  case degradation
}

/// Why somebody may not watch.
public enum AuthorizationDenial: Error, Hashable, Sendable {
  /// The provider says no, perhaps in its own words.
  case provider(message: String?)
  /// Rated above what the account may see.
  case parentalControls
  /// Nobody may at the moment.
  case degradation
}

/// The rules of a local provider that apply to one viewer.
public struct AuthorizationRules: Sendable {
  /// What an out-of-order provider lets through.
  public var degradation: Degradation?
  /// The viewer's account, for rules about it.
  public var account: AccountName?
  /// The viewer's household, for rules about it.
  public var household: HouseholdID?
  /// The most that the account may see.
  public var maximumRatings: MaximumRatings
  /// The channels that the account has.
  public var lineUp: LineUp
  /// The provider's rules; those about others are ignored.
  public var entitlements: [Entitlement]

  /// Rules for one viewer.
  public init(
    degradation: Degradation? = nil, account: AccountName?, household: HouseholdID? = nil,
    maximumRatings: MaximumRatings = MaximumRatings(), lineUp: LineUp = LineUp(),
    entitlements: [Entitlement] = []
  ) {
    self.degradation = degradation
    self.account = account
    self.household = household
    self.maximumRatings = maximumRatings
    self.lineUp = lineUp
    self.entitlements = entitlements
  }

  /// Whether the viewer may watch: what nobody allowed is denied.
  public func decide(_ resource: RequestedResource) throws(AuthorizationDenial)
    -> AuthorizationSource
  {
    switch degradation {
    case .authorizeNobody: throw .degradation
    // Who signed in while everybody was let in has no account to look up: every answer is yes.
    case .authorizeEverybody, .authenticateEverybody: return .degradation
    case nil: break
    }
    guard maximumRatings.allow(resource.ratings) else { throw .parentalControls }
    let rule = entitlements.deciding(about: resource.name, for: account, in: household)
    switch rule?.effect {
    case .allow: return .entitlement
    case .deny(let message): throw .provider(message: message)
    case nil:
      guard lineUp.contains(resource.name) else { throw .provider(message: nil) }
      return .lineUp
    }
  }
}
