/// A viewer's account at a local provider.
///
/// The password is stored separately.
public struct Account: Hashable, Sendable {
  public let provider: ProviderID
  /// The viewer's user name at this provider.
  public let name: AccountName
  public var household: HouseholdID?
  /// Whether an operator has locked the account.
  public var isDisabled: Bool
  /// The metadata about the viewer that apps may read.
  public var attributes: AccountAttributes
  /// Whether the viewer may change the password on the phone.
  ///
  /// If nil, ``Provider/mayChangePasswords`` decides.
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

  /// The authorization rules for this account: its ratings and channels, with the provider's `entitlements`.
  public func rules(entitlements: [Entitlement], degradation: Degradation?) -> AuthorizationRules {
    AuthorizationRules(
      degradation: degradation, account: name, household: household,
      maximumRatings: MaximumRatings(attributes.maximumRatings),
      lineUp: LineUp(attributes.channels), entitlements: entitlements)
  }
}

/// What a provider knows about an account.
///
/// Apps read it as the protocol's user metadata.
public struct AccountAttributes: Hashable, Sendable {
  public var zipCodes: [String]
  /// The highest rating that the viewer may watch in each rating scheme.
  public var maximumRatings: [ParentalRating]
  /// The channels in the viewer's subscription.
  public var channels: [String]

  public init(
    zipCodes: [String] = [], maximumRatings: [ParentalRating] = [], channels: [String] = []
  ) {
    self.zipCodes = zipCodes
    self.maximumRatings = maximumRatings
    self.channels = channels
  }
}

/// An attribute of a viewer that a requestor's apps may read if an operator allows it.
public enum MetadataKey: String, Hashable, Sendable, CaseIterable {
  case userID, householdID, zip, maxRating, channelID, tokenSource, mvpd
  case remainingResources = "remaining_resources"
  case usedAssets = "used_assets"
  case expirationDate = "expiration_date"
}
