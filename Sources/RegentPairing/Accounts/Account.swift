/// A viewer at a local provider, without the password.
public struct Account: Hashable, Sendable {
  /// The provider where it lives.
  public let provider: ProviderID
  /// Its name there.
  public let name: AccountName
  /// The household it shares, if any.
  public var household: HouseholdID?
  /// Whether an operator locked it.
  public var isDisabled: Bool
  /// What apps may learn about it.
  public var attributes: AccountAttributes
  /// Whether its viewer may change the password on the phone; nil is the provider's rule.
  public var mayChangePassword: Bool?

  public init(
    provider: ProviderID, name: AccountName, household: HouseholdID? = nil,
    isDisabled: Bool = false, attributes: AccountAttributes = AccountAttributes(), mayChangePassword: Bool? = nil
  ) {
    self.provider = provider
    self.name = name
    self.household = household
    self.isDisabled = isDisabled
    self.attributes = attributes
    self.mayChangePassword = mayChangePassword
  }

  /// The account as its provider's rules see it.
  public func rules(entitlements: [Entitlement], degradation: Degradation?) -> AuthorizationRules {
    AuthorizationRules(
      degradation: degradation, account: name, household: household,
      maximumRatings: MaximumRatings(attributes.maximumRatings),
      lineUp: LineUp(attributes.channels), entitlements: entitlements)
  }
}

/// What a provider knows about an account: the user metadata of the protocol.
public struct AccountAttributes: Hashable, Sendable {
  /// Postal codes.
  public var zipCodes: [String]
  /// The most that may be seen, per scheme.
  public var maximumRatings: [ParentalRating]
  /// The channels of the package.
  public var channels: [String]

  /// Attributes; none when nothing is known.
  public init(
    zipCodes: [String] = [], maximumRatings: [ParentalRating] = [], channels: [String] = []
  ) {
    self.zipCodes = zipCodes
    self.maximumRatings = maximumRatings
    self.channels = channels
  }
}

/// A user attribute that a requestor may be given.
public enum MetadataKey: String, Hashable, Sendable, CaseIterable {
  case userID, householdID, zip, maxRating, channelID, tokenSource, mvpd
  case remainingResources = "remaining_resources"
  case usedAssets = "used_assets"
  case expirationDate = "expiration_date"
}
