internal import RegentCryptography
internal import RegentJSON
package import RegentPairing
package import PairingStore

/// The access tokens of registered clients: JWTs that only this service reads, so one key is enough.
package struct AccessTokens: Sendable {
  /// What a token says.
  package struct Claims: Hashable, Sendable {
    package let client: ClientID
    package let application: StatementID
    package let requestor: RequestorID
    /// When the token ends.
    package let expires: Instant
  }

  /// A token with what its document repeats.
  package struct Issued: Sendable {
    /// Its own id.
    package let id: String
    /// The token.
    package let text: String
    /// When it was made.
    package let created: Instant
    /// How long it lasts.
    package let lifetime: Duration
  }

  /// Not `at+jwt`: that is what OAuth's are (RFC 9068).
  private static let type = "v1-at+jwt"
  /// Tokens of an earlier version, which are good for six hours; their key is none of OAuth's.
  private static let earlierType = "at+jwt"
  private let key: HMACKey
  private let lifetime: Duration
  private let known = VerifiedTokens<Claims>()

  init(_ keys: some KeyStore, lifetime: Duration) async throws {
    key = try HMACKey(.sha256, Secret(try await keys.keyMaterial(for: .accessTokens)))
    self.lifetime = lifetime
  }

  /// A new token for a client.
  package func issue(for client: ClientRecord, at now: Instant) throws -> Issued {
    let id = Random.uuid()
    let claims: JSONObject = [
      "jti": .string(id), "sub": .string(client.id.text),
      "app": .string(client.application.text), "req": .string(client.requestor.text),
      "iat": .integer(now.milliseconds / 1000),
      "exp": .integer((now + lifetime).milliseconds / 1000),
    ]
    let text = try JWS.authenticate(claims.bytes(), with: key, keyID: nil, type: Self.type)
    return Issued(id: id, text: text, created: now, lifetime: lifetime)
  }

  /// What a token says, if it is one of ours and has time left.
  package func read(_ text: String, at now: Instant) -> Claims? {
    guard text.utf8.count <= 2048 else { return nil }
    if let claims = known[text] { return now < claims.expires ? claims : nil }
    guard let claims = verified(text), now < claims.expires else { return nil }
    known[text] = claims
    return claims
  }

  private func verified(_ text: String) -> Claims? {
    guard let verified = try? UnverifiedJWS(text).verified(with: key),
      verified.isType(Self.type) || verified.isType(Self.earlierType),
      let claims = try? verified.claims(),
      case .integer(let end) = claims["exp"], case .string(let sub) = claims["sub"],
      case .string(let app) = claims["app"], case .string(let req) = claims["req"],
      let client = ClientID(sub), let application = StatementID(app),
      let requestor = RequestorID(req), let expires = Instant(seconds: end)
    else { return nil }
    return Claims(client: client, application: application, requestor: requestor, expires: expires)
  }
}
