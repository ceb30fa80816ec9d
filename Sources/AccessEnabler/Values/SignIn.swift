public import RegentPairing

/// That this device is signed in: the authentication, as the app may know it.
public struct SignIn: Hashable, Sendable {
  /// How it came about.
  @nonexhaustive
  public enum Source: String, Hashable, Sendable, CaseIterable {
    /// A viewer signed in.
    case regular
    /// A temporary pass let the device in.
    case temporary
    /// The provider was out of order and everybody was let in.
    case degraded
    /// The box's platform account let the app in.
    case platform
  }

  public var provider: MVPD
  /// The viewer, as the provider names it to this app.
  public var userID: String
  /// When it ends.
  public var expires: Instant
  /// How it came about.
  public var source: Source

  public init(provider: MVPD, userID: String, expires: Instant, source: Source = .regular) {
    self.provider = provider
    self.userID = userID
    self.expires = expires
    self.source = source
  }
}
