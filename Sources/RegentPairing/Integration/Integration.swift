/// The settings for one requestor at one provider: whether viewers of the provider can use the requestor's apps, and
/// how.
public struct Integration: Hashable, Sendable {
  public let requestor: RequestorID
  public let provider: ProviderID
  /// Whether the integration is switched on.
  public var enabled: Bool
  /// Whether apps may sign in with the box's shared account (the platform account).
  public var singleSignOn: Bool
  /// The lifetimes and limits for apps that ask for no profile.
  public var settings: IntegrationSettings
  /// The lifetimes and limits for apps that ask for a profile by its name.
  public var profiles: [ProfileName: IntegrationProfile]
  /// What an operator allows while the provider is out of order; nil in normal operation.
  public var degradation: Degradation?

  public init(
    requestor: RequestorID, provider: ProviderID, enabled: Bool = true,
    singleSignOn: Bool = false, settings: IntegrationSettings = IntegrationSettings(),
    profiles: [ProfileName: IntegrationProfile] = [:], degradation: Degradation? = nil
  ) {
    self.requestor = requestor
    self.provider = provider
    self.enabled = enabled
    self.singleSignOn = singleSignOn
    self.settings = settings
    self.profiles = profiles
    self.degradation = degradation
  }

  /// The settings for an app that asked for this profile.
  ///
  /// An unknown profile gets the default settings.
  public func settings(for profile: ProfileName?) -> IntegrationSettings {
    guard let profile, let other = profiles[profile] else { return settings }
    return IntegrationSettings(
      authenticationLifetime: other.authenticationLifetime ?? settings.authenticationLifetime,
      authorizationLifetime: other.authorizationLifetime ?? settings.authorizationLifetime,
      preauthorizationLimit: other.preauthorizationLimit ?? settings.preauthorizationLimit)
  }
}

public struct IntegrationSettings: Hashable, Sendable {
  /// How long a device stays signed in.
  ///
  /// The default is 30 days.
  public var authenticationLifetime: Duration
  /// How long a permit (the stored authorization of one resource) is valid.
  ///
  /// The default is 24 hours.
  public var authorizationLifetime: Duration
  /// How many resources one preauthorization may name.
  ///
  /// The default is 5.
  public var preauthorizationLimit: Int

  public init(
    authenticationLifetime: Duration = .seconds(30 * 86_400),
    authorizationLifetime: Duration = .seconds(86_400),
    preauthorizationLimit: Int = PreauthorizationRequest.usualLimit
  ) {
    self.authenticationLifetime = authenticationLifetime
    self.authorizationLifetime = authorizationLifetime
    self.preauthorizationLimit = preauthorizationLimit
  }
}

/// The lifetimes and limits that one profile changes.
///
/// A nil value keeps the integration's own setting.
public struct IntegrationProfile: Hashable, Sendable {
  public var authenticationLifetime: Duration?
  public var authorizationLifetime: Duration?
  public var preauthorizationLimit: Int?

  public init(
    authenticationLifetime: Duration? = nil, authorizationLifetime: Duration? = nil,
    preauthorizationLimit: Int? = nil
  ) {
    self.authenticationLifetime = authenticationLifetime
    self.authorizationLifetime = authorizationLifetime
    self.preauthorizationLimit = preauthorizationLimit
  }
}

/// What an operator allows or denies while a provider is out of order.
public enum Degradation: String, Hashable, Sendable, CaseIterable {
  /// Every viewer is signed in without a password, and may watch everything.
  case authenticateEverybody = "authn-all"
  /// Viewers who are signed in may watch everything.
  case authorizeEverybody = "authz-all"
  /// No viewer may watch anything.
  case authorizeNobody = "authz-none"
}
