package import RegentCryptography
internal import RegentEncodings
internal import RegentJSON
package import RegentPairing

/// The claims of an ID token (OpenID Connect Core §2), which tells the client who signed in.
package struct IDTokenClaims: Sendable, Hashable {
  /// The JWT type of ID tokens.
  ///
  /// It differs from the type of access tokens, so that neither is accepted as the other.
  package static let type = "JWT"

  package var issuer: String
  package var subject: String
  package var client: ClientID
  package var issued: Instant
  package var expires: Instant
  /// The time at which the viewer approved the code.
  package var authenticated: Instant
  /// The access token of the same response.
  ///
  /// Its hash becomes the claim `at_hash`.
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
    // `at_hash` is the left half of the hash that the signature algorithm uses: SHA-256 for RS256 and ES256. No
    // standard says which hash to use for EdDSA, so it is omitted there.
    if key.algorithm != .edDSA {
      claims["at_hash"] = .string(Base64URL.encode(Array(SHA256.hash(Array(accessToken.utf8)).prefix(16))))
    }
    return try JWS.sign(claims.bytes(), with: key, keyID: keyID, type: Self.type)
  }
}
