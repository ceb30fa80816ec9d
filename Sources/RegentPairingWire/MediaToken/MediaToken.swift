internal import RegentEncodings
public import RegentPairing

/// A short media token: what a stream server verifies before it plays, without asking anybody.
///
/// Its text is `<signatureInfo>SIG</signatureInfo><shortAuthorizationToken>…</shortAuthorizationToken>`, and what is
/// handed out is the base64 of that. The signature (RSASSA-PKCS1-v1_5 with SHA-256, made elsewhere) covers the exact
/// bytes of the `shortAuthorizationToken` element, from its `<` to its `>`.
public struct MediaToken: Hashable, Sendable {
  /// How long a token lasts when nobody said otherwise: 7 minutes.
  public static let usualLifetime: Duration = .seconds(420)

  /// The viewer, hashed: the same value as in tracking.
  public var sessionGUID: String
  /// Whose app.
  public var requestor: String
  /// What may be played, as the app named it.
  public var resource: String
  /// How long it lasts.
  public var lifetime: Duration
  /// When it was made.
  public var issued: Instant
  public var provider: String
  /// The provider behind the provider.
  public var proxiedProvider: String?
  /// Which of the published keys signed it.
  public var keyID: String

  public init(
    sessionGUID: String, requestor: String, resource: String,
    lifetime: Duration = MediaToken.usualLifetime, issued: Instant, provider: String,
    proxiedProvider: String? = nil, keyID: String
  ) {
    self.sessionGUID = sessionGUID
    self.requestor = requestor
    self.resource = resource
    self.lifetime = lifetime
    self.issued = issued
    self.provider = provider
    self.proxiedProvider = proxiedProvider
    self.keyID = keyID
  }

  /// When it ends.
  public var expires: Instant { issued + lifetime }

  /// The bytes to sign.
  public var element: [UInt8] {
    var bytes = MediaTokenText.open
    for (name, value) in [
      ("sessionGUID", sessionGUID), ("requestorID", requestor), ("resourceID", resource),
      ("ttl", String(lifetime.wholeMilliseconds)), ("issueTime", String(issued.milliseconds)),
      ("mvpdId", provider), ("proxyMvpdId", proxiedProvider), ("keyId", keyID),
    ] {
      guard let value else { continue }
      bytes.append(contentsOf: "<\(name)>".utf8)
      XMLText.escape(value, into: &bytes)
      bytes.append(contentsOf: "</\(name)>".utf8)
    }
    return bytes + MediaTokenText.close
  }

  /// What is handed out, once the element has been signed.
  public func serialized(signature: [UInt8]) -> String {
    let text =
      MediaTokenText.signatureOpen + Array(Base64.encode(signature).utf8)
      + MediaTokenText.signatureClose + element
    return Base64.encode(text)
  }
}

/// The fixed pieces of a token's text.
enum MediaTokenText {
  static let signatureOpen = Array("<signatureInfo>".utf8)
  static let signatureClose = Array("</signatureInfo>".utf8)
  static let open = Array("<shortAuthorizationToken>".utf8)
  static let close = Array("</shortAuthorizationToken>".utf8)
  static let end = Array("</".utf8)
}
