public import RegentPairing

/// The right to play one resource now: a short media token.
public struct MediaAccess: Hashable, Sendable {
  /// The resource, as the app named it.
  public var resource: String
  /// The token's text, as `setToken` gives it: `<signatureInfo>…`.
  public var token: String
  /// The same in base64: what stream servers usually get in a header or a query.
  public var serialized: String
  /// When it ends.
  public var expires: Instant
  /// The provider that vouches.
  public var provider: String

  public init(
    resource: String, token: String, serialized: String, expires: Instant, provider: String
  ) {
    self.resource = resource
    self.token = token
    self.serialized = serialized
    self.expires = expires
    self.provider = provider
  }
}
