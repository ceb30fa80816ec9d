public import RegentPairing

/// The right to play one resource now: a short-lived media token.
public struct MediaAccess: Hashable, Sendable {
  /// The resource, as the app named it.
  public var resource: String
  /// The token's text, as `setToken` delivers it: `<signatureInfo>…`.
  public var token: String
  /// The token in base64, as apps usually send it to stream servers in a header or query.
  public var serialized: String
  /// When the media token expires.
  public var expires: Instant
  /// The id of the provider that allowed the viewer to play the resource.
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
