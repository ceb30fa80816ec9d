package import RegentCryptography
internal import RegentEncodings
internal import RegentJSON
package import RegentPairing

/// What an ID token says (OpenID Connect Core §2): who signed in, to the client alone.
package struct IDTokenClaims: Sendable, Hashable {
  /// Another kind than an access token's, so that neither is taken for the other.
  package static let type = "JWT"

  package var issuer: String
  package var subject: String
  package var client: ClientID
  package var issued: Instant
  package var expires: Instant
  /// When the viewer said yes.
  package var authenticated: Instant
  /// The access token that comes along.
  package var accessToken: String

  package init(
    issuer: String, subject: String, client: ClientID, issued: Instant, expires: Instant, authenticated: Instant,
    accessToken: String
  ) {
    self.issuer = issuer
    self.subject = subject
    self.client = client
    self.issued = issued
    self.expires = expires
    self.authenticated = authenticated
    self.accessToken = accessToken
  }

  package func signed(with key: SigningKey, keyID: String) throws(KeyError) -> String {
    var claims: JSONObject = [
      "iss": .string(issuer), "sub": .string(subject), "aud": .string(client.text),
      "iat": .integer(issued.second), "exp": .integer(expires.second),
      "auth_time": .integer(authenticated.second),
    ]
    // The hash of the signature's own algorithm, left half: SHA-256 for both of these. EdDSA's is nowhere settled.
    if key.algorithm != .edDSA {
      claims["at_hash"] = .string(Base64URL.encode(Array(SHA256.hash(Array(accessToken.utf8)).prefix(16))))
    }
    return try JWS.sign(claims.bytes(), with: key, keyID: keyID, type: Self.type)
  }
}
