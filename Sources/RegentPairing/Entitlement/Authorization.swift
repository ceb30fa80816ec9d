/// A title or channel that an app wants to play, as the authorization rules see it.
public struct RequestedResource: Hashable, Sendable {
  /// The id exactly as the app sent it.
  ///
  /// Permits (stored authorizations), tokens and responses contain it unchanged.
  public let id: ResourceID
  /// The resource's name, which is compared with patterns and line-ups: the id itself, or the channel title of a Media
  /// RSS fragment.
  public let name: String
  /// The parental ratings in the resource's Media RSS fragment.
  public let ratings: [ParentalRating]

  /// Creates a resource with the name and ratings that were parsed from its id.
  ///
  /// Without `name`, the id is the name.
  public init(_ id: ResourceID, name: String? = nil, ratings: [ParentalRating] = []) {
    self.id = id
    self.name = name ?? id.text
    self.ratings = ratings
  }
}

/// Which rule allowed a viewer to watch.
public enum AuthorizationSource: Hashable, Sendable {
  /// An entitlement rule of the provider allowed the resource.
  case entitlement
  /// The resource was allowed because it is a channel in the account's line-up (the channels of its subscription).
  case lineUp
  case temporaryPass
  /// The provider is out of order and an operator has allowed every resource.
  case degradation
}

/// Why a viewer may not watch a resource.
public enum AuthorizationDenial: Error, Hashable, Sendable {
  /// The provider denies the resource, with an optional message for the viewer.
  case provider(message: String?)
  /// The resource is rated above the account's maximum.
  case parentalControls
  /// The provider is out of order, and an operator has denied every resource.
  case degradation
}

/// The rules of a local provider that apply to one viewer.
public struct AuthorizationRules: Sendable {
  /// What an operator allows or denies because the provider is out of order; nil if it works normally.
  public var degradation: Degradation?
  /// The viewer's account name, for rules about one account.
  public var account: AccountName?
  /// The viewer's household, for rules about one household.
  public var household: HouseholdID?
  public var maximumRatings: MaximumRatings
  public var lineUp: LineUp
  /// All entitlement rules of the provider.
  ///
  /// Rules about other viewers are ignored.
  public var entitlements: [Entitlement]

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

  /// Decides whether the viewer may watch a resource.
  ///
  /// A resource that no rule or line-up allows is denied.
  public func decide(_ resource: RequestedResource) throws(AuthorizationDenial)
    -> AuthorizationSource
  {
    switch degradation {
    case .authorizeNobody: throw .degradation
    // A viewer who signed in while an operator let every viewer in has no account, so no rule can be looked up.
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
