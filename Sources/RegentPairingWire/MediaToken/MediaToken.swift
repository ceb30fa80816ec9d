internal import RegentEncodings
public import RegentPairing

/// A short media token, which a stream server verifies offline before it plays.
///
/// Its text is `<signatureInfo>SIG</signatureInfo><shortAuthorizationToken>…</shortAuthorizationToken>`, and apps get
/// the base64 of that. The signature (RSASSA-PKCS1-v1_5 with SHA-256) covers the exact bytes of the
/// `shortAuthorizationToken` element, from its `<` to its `>`. RegentCryptography computes the signature.
public struct MediaToken: Hashable, Sendable {
  /// The lifetime of a media token unless the operator configured another one: 7 minutes.
  public static let usualLifetime: Duration = .seconds(420)

  /// The hash that identifies the viewer, the same as in tracking data.
  public var sessionGUID: String
  public var requestor: String
  /// The resource that may be played, as the app named it.
  public var resource: String
  public var lifetime: Duration
  public var issued: Instant
  public var provider: String
  /// The provider that ``provider`` is a proxy for, if any.
  public var proxiedProvider: String?
  /// The id of the published key that signs the token.
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

  public var expires: Instant { issued + lifetime }

  /// The `shortAuthorizationToken` element, whose bytes are to be signed.
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

  /// The complete media token in base64.
  ///
  /// `signature` must cover ``element``.
  public func serialized(signature: [UInt8]) -> String {
    let text =
      MediaTokenText.signatureOpen + Array(Base64.encode(signature).utf8)
      + MediaTokenText.signatureClose + element
    return Base64.encode(text)
  }
}

/// The fixed parts of a token's text.
enum MediaTokenText {
  static let signatureOpen = Array("<signatureInfo>".utf8)
  static let signatureClose = Array("</signatureInfo>".utf8)
  static let open = Array("<shortAuthorizationToken>".utf8)
  static let close = Array("</shortAuthorizationToken>".utf8)
  static let end = Array("</".utf8)
}
