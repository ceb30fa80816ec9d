internal import PairingStore
internal import RegentCryptography
internal import RegentJSON
internal import RegentOAuth
internal import RegentPairing

/// Makes the access and refresh tokens of a grant, and repeats a stored response for a box that did not get it.
struct TokenPairs: Sendable {
  private let core: ServiceCore

  init(_ core: ServiceCore) { self.core = core }

  /// The parameters with which tokens are made.
  struct Wanted {
    let grant: GrantID
    let generation: Int64
    let scope: Scope
    let thumbprint: String?
    /// Whether a refresh token is included.
    ///
    /// The refresh token keeps the granted scope, even if this access token has a smaller scope (RFC 6749 §6).
    let refreshes: Bool
  }

  func make(
    _ wanted: Wanted, _ signIn: ValidSignIn, _ client: AuthenticatedClient, at now: Instant
  ) async throws -> TokenAnswer {
    let (keyID, key) = try await core.oauth.key(client.metadata.algorithm, at: now)
    let subject = core.userID(of: signIn.record)
    // The token expires with the sign-in at the latest, because verifiers that do not introspect know only this expiry.
    let expires = min(now + core.options.oauthTokenLifetime, signIn.authentication.expires)
    let access = try AccessTokenClaims(
      issuer: core.oauth.metadata.issuer, subject: subject,
      audience: client.record.audience ?? core.options.publicURL, client: client.record.id, scope: wanted.scope,
      grant: wanted.grant.text, id: Random.uuid(), issued: now, expires: expires, thumbprint: wanted.thumbprint
    ).signed(with: key, keyID: keyID.text)
    let identity =
      wanted.scope.contains(.openid)
      ? try IDTokenClaims(
        issuer: core.oauth.metadata.issuer, subject: subject, client: client.record.id, issued: now,
        expires: expires, authenticated: signIn.authentication.issued, accessToken: access
      ).signed(with: key, keyID: keyID.text) : nil
    return TokenAnswer(
      accessToken: access, kind: wanted.thumbprint == nil ? "Bearer" : "DPoP",
      lifetime: expires.since(now).components.seconds,
      refreshToken: wanted.refreshes
        ? core.oauth.refreshTokens.text(of: wanted.grant, generation: wanted.generation) : nil,
      scope: wanted.scope.text, idToken: identity)
  }

  /// The stored response to the latest token request, with the remaining lifetime of the access token; nil when it
  /// cannot be repeated.
  static func again(_ grant: GrantRecord, at now: Instant) -> TokenAnswer? {
    guard let object = (try? JSONValue(reading: grant.answer.bytes))?.object,
      var answer = try? TokenAnswer(reading: object)
    else { return nil }
    let gone = max(now.since(grant.rotated), .zero).components.seconds
    answer.lifetime = answer.lifetime.map { max($0 - gone, 1) }
    return answer
  }
}
