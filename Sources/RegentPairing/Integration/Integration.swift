/// Requestor × provider: whether and how they work together.
public struct Integration: Hashable, Sendable {
  /// Whose app.
  public let requestor: RequestorID
  /// Whose viewers.
  public let provider: ProviderID
  /// Whether it works at all.
  public var enabled: Bool
  /// Whether a sign-in may be shared through the platform's account.
  public var singleSignOn: Bool
  /// Lifetimes and limits for apps that ask for no profile.
  public var settings: IntegrationSettings
  /// What differs for apps that ask for one.
  public var profiles: [ProfileName: IntegrationProfile]
  /// What is let through while the provider is out of order.
  public var degradation: Degradation?

  /// An integration; what is not said has the usual value.
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

  /// The values for an app that asked for this profile; an unknown profile changes nothing.
  public func settings(for profile: ProfileName?) -> IntegrationSettings {
    guard let profile, let other = profiles[profile] else { return settings }
    return IntegrationSettings(
      authenticationLifetime: other.authenticationLifetime ?? settings.authenticationLifetime,
      authorizationLifetime: other.authorizationLifetime ?? settings.authorizationLifetime,
      preauthorizationLimit: other.preauthorizationLimit ?? settings.preauthorizationLimit)
  }
}

/// Lifetimes and limits of an integration.
public struct IntegrationSettings: Hashable, Sendable {
  /// How long a device stays signed in: 30 days.
  public var authenticationLifetime: Duration
  /// How long a permit lasts: 24 hours.
  public var authorizationLifetime: Duration
  /// How many resources one preauthorization may name: 5.
  public var preauthorizationLimit: Int

  /// Settings; what is not said has the usual value.
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

/// What one application profile changes.
public struct IntegrationProfile: Hashable, Sendable {
  /// Another time signed in.
  public var authenticationLifetime: Duration?
  /// Another time permitted.
  public var authorizationLifetime: Duration?
  /// Another number of resources.
  public var preauthorizationLimit: Int?

  /// Changes; none means "as the integration says".
  public init(
    authenticationLifetime: Duration? = nil, authorizationLifetime: Duration? = nil,
    preauthorizationLimit: Int? = nil
  ) {
    self.authenticationLifetime = authenticationLifetime
    self.authorizationLifetime = authorizationLifetime
    self.preauthorizationLimit = preauthorizationLimit
  }
}

/// What an operator lets through, or stops, while a provider is out of order.
public enum Degradation: String, Hashable, Sendable, CaseIterable {
  /// Everybody is signed in, and may watch everything.
  case authenticateEverybody = "authn-all"
  /// Who is signed in may watch everything.
  case authorizeEverybody = "authz-all"
  /// Nobody may watch anything.
  case authorizeNobody = "authz-none"
}
