package import RegentCryptography
internal import RegentJSON
package import RegentPairing

/// The claims of an access token (RFC 9068).
package struct AccessTokenClaims: Sendable, Hashable {
  package static let type = "at+jwt"

  package var issuer: String
  /// The viewer's pseudonym at this requestor: a keyed hash of the viewer's id.
  package var subject: String
  /// The API for which the token is valid: the service itself, or the API that the client was registered for.
  package var audience: String
  package var client: ClientID
  package var scope: Scope
  /// The id of the grant, by which the service finds the grant when a client uses the token.
  package var grant: String
  package var id: String
  package var issued: Instant
  package var expires: Instant
  /// The thumbprint of the key that a client must prove with the token, or `nil` for a Bearer token.
  package var thumbprint: String?

  package init(
    issuer: String, subject: String, audience: String, client: ClientID, scope: Scope, grant: String, id: String,
    issued: Instant, expires: Instant, thumbprint: String?
  ) {
    self.issuer = issuer
    self.subject = subject
    self.audience = audience
    self.client = client
    self.scope = scope
    self.grant = grant
    self.id = id
    self.issued = issued
    self.expires = expires
    self.thumbprint = thumbprint
  }

  package func signed(with key: SigningKey, keyID: String) throws(KeyError) -> String {
    // The JSON is written directly as bytes, because each refresh creates a token.
    let claims = JSONWriter.bytes(capacity: 512) { json in
      json.object { json in
        json.member("iss", issuer)
        json.member("sub", subject)
        json.member("aud", audience)
        json.member("client_id", client.text)
        json.member("scope", scope.text)
        json.member("iat", issued.second)
        json.member("exp", expires.second)
        json.member("jti", id)
        json.member("grant", grant)
        if let thumbprint { json.object("cnf") { $0.member("jkt", thumbprint) } }
      }
    }
    return try JWS.sign(claims, with: key, keyID: keyID, type: Self.type)
  }

  /// Reads the claims of a token that was signed with one of the service's keys.
  ///
  /// Returns `nil` unless type, issuer, audience and expiry are right. A token for another API, or one of another type
  /// signed with the same key, must not be accepted (RFC 9068 §4, RFC 8725 §3.11). If `audience` is `nil`, the caller
  /// must check the audience.
  package init?(_ token: VerifiedJWS, issuer: String, audience: String? = nil, at now: Instant) {
    guard token.isType(Self.type), let claims = try? token.claims(),
      let iss = claims["iss"]?.string, iss.utf8.elementsEqual(issuer.utf8),
      let aud = claims["aud"]?.string, audience.map({ aud.utf8.elementsEqual($0.utf8) }) ?? true,
      let subject = claims["sub"]?.string, let client = claims["client_id"]?.string.flatMap({ ClientID($0) }),
      let scope = claims["scope"]?.string.flatMap({ try? Scope($0) }), let grant = claims["grant"]?.string,
      let id = claims["jti"]?.string, let issued = claims["iat"]?.int64.flatMap({ Instant(seconds: $0) }),
      let expires = claims["exp"]?.int64.flatMap({ Instant(seconds: $0) }), now < expires
    else { return nil }
    self.init(
      issuer: iss, subject: subject, audience: aud, client: client, scope: scope, grant: grant, id: id,
      issued: issued, expires: expires, thumbprint: claims["cnf"]?["jkt"]?.string)
  }
}
