public import RegentPairing

/// The sign-in of this device.
public struct SignIn: Hashable, Sendable {
  /// How this device was signed in.
  @nonexhaustive
  public enum Source: String, Hashable, Sendable, CaseIterable {
    /// A viewer approved a registration code or signed in with a browser.
    case regular
    /// A temporary pass signed the device in.
    case temporary
    /// An operator had every viewer signed in, because the provider was out of order (a degradation).
    case degraded
    /// The app got its sign-in from the box's shared account (the platform account).
    case platform
  }

  public var provider: MVPD
  /// The viewer's id, as the provider gives it to this app.
  public var userID: String
  /// When the sign-in ends.
  public var expires: Instant
  public var source: Source

  public init(provider: MVPD, userID: String, expires: Instant, source: Source = .regular) {
    self.provider = provider
    self.userID = userID
    self.expires = expires
    self.source = source
  }
}
