internal import RegentCryptography
internal import RegentJSON
package import RegentPairing
package import PairingStore

/// The access tokens of registered clients: JWTs with an HMAC.
///
/// Only this service reads them, so a symmetric key is enough.
package struct AccessTokens: Sendable {
  package struct Claims: Hashable, Sendable {
    package let client: ClientID
    package let application: StatementID
    package let requestor: RequestorID
    package let expires: Instant
  }

  /// A new access token, with the values that its response document repeats.
  package struct Issued: Sendable {
    /// The token's id (`jti`).
    package let id: String
    package let text: String
    package let created: Instant
    package let lifetime: Duration
  }

  /// The type in the token's header.
  ///
  /// It is not `at+jwt`, which is the type of OAuth access tokens (RFC 9068).
  private static let type = "v1-at+jwt"
  /// The type in the header of tokens of an earlier version.
  ///
  /// These tokens live six hours. They cannot be confused with OAuth's, which are signed with another key.
  private static let earlierType = "at+jwt"
  private let key: HMACKey
  private let lifetime: Duration
  private let known = VerifiedTokens<Claims>()

  init(_ keys: some KeyStore, lifetime: Duration) async throws {
    key = try HMACKey(.sha256, Secret(try await keys.keyMaterial(for: .accessTokens)))
    self.lifetime = lifetime
  }

  /// Issues an access token to a registered client.
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

  /// Verifies an access token and returns its claims; nil when it is not a valid token of this service or has expired.
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
