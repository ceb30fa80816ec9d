internal import HTTPServer
internal import PairingStore
internal import RegentCryptography
internal import RegentHTTPCodec
internal import RegentOAuth
internal import RegentPairing

extension ServiceCore {
  /// What an access token says whose signature is ours and whose time is not over; for whom it is, its reader checks.
  func claims(ofAccessToken text: String) -> AccessTokenClaims? {
    guard let token = try? UnverifiedJWS(text), let keyID = token.keyID, let key = oauth.keys.publicKey(keyID),
      let verified = try? token.verified(with: key)
    else { return nil }
    return AccessTokenClaims(verified, issuer: oauth.metadata.issuer, at: clock.now)
  }

  /// The grant of an access token, if it stands.
  func standing(_ claims: AccessTokenClaims) async throws(StoreError) -> StandingGrant? {
    guard let id = GrantID(claims.grant), let standing = try await standing(id), standing.client.id == claims.client
    else { return nil }
    return standing
  }

  /// A grant that stands; nil also when its account, integration or keys do not.
  func standing(_ id: GrantID) async throws(StoreError) -> StandingGrant? {
    do throws(StoreError) {
      return try await store.grant(id, at: clock.now)
    } catch {
      guard case .notInForce = error else { throw error }
      return nil
    }
  }
}

/// The credential of a request to something that access tokens open (RFC 6750, RFC 9449 §7).
struct TokenCredential: Sendable {
  let token: String
  let isBound: Bool

  /// Reads the header; nil when there is none of these two kinds.
  init?(_ request: Request) throws(OAuthError) {
    guard let words = try request.authorization()?.split(separator: " ", maxSplits: 1), words.count == 2 else {
      return nil
    }
    switch words[0].lowercased() {
    case "bearer": isBound = false
    case "dpop": isBound = true
    default: return nil
    }
    token = String(words[1])
  }

  /// Whether the token may be shown in this way, and whether the key that it is bound to was shown with it.
  func check(
    _ claims: AccessTokenClaims, _ request: Request, at address: String, _ core: ServiceCore
  ) throws(OAuthError) {
    guard let thumbprint = claims.thumbprint else {
      guard !isBound else { throw OAuthError(.invalidToken, "the token is bound to no key: send it as Bearer") }
      return
    }
    guard isBound else { throw OAuthError(.invalidToken, "the token is bound to a key: send it as DPoP with a proof") }
    guard let proof = try core.oauth.proofs.read(request, at: address, accessToken: token, core.clock) else {
      throw OAuthError(.invalidDPoPProof, "the token is bound to a key: send a proof in the header DPoP")
    }
    guard proof.thumbprint == thumbprint else {
      throw OAuthError(.invalidToken, "the proof is of another key than the token's")
    }
    try core.oauth.proofs.take(proof, core.clock)
  }
}
