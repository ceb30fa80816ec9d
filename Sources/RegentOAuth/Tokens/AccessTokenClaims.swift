package import RegentCryptography
internal import RegentJSON
package import RegentPairing

/// What an access token says (RFC 9068).
package struct AccessTokenClaims: Sendable, Hashable {
  package static let type = "at+jwt"

  package var issuer: String
  /// The viewer's keyed name at the requestor.
  package var subject: String
  /// For whom the token is: the service itself, or the interface that the client was registered for.
  package var audience: String
  package var client: ClientID
  package var scope: Scope
  /// The grant that it came from: what is looked up when the service itself is asked.
  package var grant: String
  package var id: String
  package var issued: Instant
  package var expires: Instant
  /// The key that must be shown with it; nil for a Bearer token.
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
    // Written straight into bytes: this is made for each refresh.
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

  /// What a token says whose signature one of our keys made.
  ///
  /// Its kind, issuer, audience and time are checked: a token for another interface, or one of another kind with the
  /// same key, is none (RFC 9068 §4, RFC 8725 §3.11). Only who tells others what a token is worth reads one for any
  /// audience.
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
