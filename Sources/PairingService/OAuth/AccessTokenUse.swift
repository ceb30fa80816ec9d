internal import HTTPServer
internal import PairingStore
internal import RegentCryptography
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentOAuth
internal import RegentPairing

extension ServiceCore {
  /// The claims of an OAuth access token with a valid signature that has not expired.
  ///
  /// The caller must check the audience.
  func claims(ofAccessToken text: String) -> AccessTokenClaims? { accessToken(text)?.claims }

  /// Verifies an OAuth access token, and returns it with its introspection response.
  func accessToken(_ text: String) -> VerifiedAccessToken? {
    if let known = rememberedAccessToken(text) { return known }
    guard let token = try? UnverifiedJWS(text), let keyID = token.keyID, let key = oauth.keys.publicKey(keyID),
      let verified = try? token.verified(with: key),
      let claims = AccessTokenClaims(verified, issuer: oauth.metadata.issuer, at: clock.now)
    else { return nil }
    let known = VerifiedAccessToken(claims, keyID: keyID)
    oauth.accessTokens[text] = known
    return known
  }

  /// Returns an OAuth access token from the cache of verified tokens.
  ///
  /// Its expiry, and that its signing key still exists, are checked each time.
  func rememberedAccessToken(_ text: String) -> VerifiedAccessToken? {
    guard let known = oauth.accessTokens[text], clock.now < known.claims.expires,
      oauth.keys.publicKey(known.keyID) != nil
    else { return nil }
    return known
  }

  /// Reads the valid grant of an access token; nil when it is not valid.
  ///
  /// The grant is also put into ``GrantCache`` for the next introspection of the token.
  func standing(_ claims: AccessTokenClaims) async throws(StoreError) -> ValidGrant? {
    let mark = store.standingMark
    guard let id = GrantID(claims.grant), let standing = try await standing(id), standing.client.id == claims.client
    else { return nil }
    if let mark { oauth.standing.keep(standing, asOf: mark) }
    return standing
  }

  /// Reads a valid grant; nil also when its account, integration or keys are no longer valid.
  func standing(_ id: GrantID) async throws(StoreError) -> ValidGrant? {
    do throws(StoreError) {
      return try await store.grant(id, at: clock.now)
    } catch {
      guard case .notInForce = error else { throw error }
      return nil
    }
  }

  /// Reads whether a grant is valid, paused or ended.
  func state(of id: GrantID) async throws(StoreError) -> GrantState {
    let state = try await state(of: id, at: clock.now)
    // If the clock seems to be ahead, the grant may have expired only by this clock. It is then reported as paused,
    // because a client that is told of the end discards its tokens for good.
    guard case .ended = state, age.doubt != nil else { return state }
    switch try await self.state(of: id, at: age.now) {
    case .stands(let standing):
      return .paused(PausedGrant(grant: standing.grant, client: standing.client, signIn: standing.signIn.record))
    case let other: return other
    }
  }

  private func state(of id: GrantID, at now: Instant) async throws(StoreError) -> GrantState {
    do throws(StoreError) {
      return try await store.grant(id, at: now).map(GrantState.stands) ?? .ended
    } catch {
      guard case .notInForce(let refusal) = error else { throw error }
      guard refusal.isPause, let grant = try await kept(id, at: now),
        let client = try await store.oauthClient(grant.client)
      else { return .ended }
      var one = AuthenticationFilter()
      one.id = grant.authentication
      guard let signIn = try await store.authentications(one, after: nil, limit: 1, at: now).first else {
        return .ended
      }
      return .paused(PausedGrant(grant: grant, client: client, signIn: signIn))
    }
  }

  /// Reads a grant that has not expired, whether it is valid or paused.
  func kept(_ id: GrantID, at now: Instant) async throws(StoreError) -> GrantRecord? {
    try await store.grants(GrantFilter(id: id), after: nil, limit: 1, at: now).first
  }
}

/// A grant that is paused because an operator has disabled its account or integration, with its client and sign-in.
struct PausedGrant {
  let grant: GrantRecord
  let client: OAuthClientRecord
  let signIn: AuthenticationRecord
}

/// Whether a grant can be used.
enum GrantState {
  case stands(ValidGrant)
  /// The grant's account or integration is disabled.
  ///
  /// It cannot be used now, and becomes valid again when an operator enables them.
  case paused(PausedGrant)
  /// The grant does not exist, or its sign-in has ended.
  case ended

  var grant: GrantRecord? {
    switch self {
    case .stands(let standing): standing.grant
    case .paused(let paused): paused.grant
    case .ended: nil
    }
  }

  /// The sign-in that the grant uses.
  var signIn: AuthenticationRecord? {
    switch self {
    case .stands(let standing): standing.signIn.record
    case .paused(let paused): paused.signIn
    case .ended: nil
    }
  }
}

extension OAuthError {
  /// The error for a grant that is paused because an operator has disabled its account or integration.
  ///
  /// It is 503, and never `invalid_grant`: clients discard their refresh token after `invalid_grant`, and disabling an
  /// account for a while must not cost it.
  static let paused = OAuthError(
    .temporarilyUnavailable,
    "the operator has switched the account or provider off for now: retry later, the refresh token stays valid")
}

/// The access token of a request to a protected resource (RFC 6750, RFC 9449 §7).
struct TokenCredential: Sendable {
  let token: String
  let isBound: Bool

  /// Reads the access token from the `Authorization` header; nil when the header has neither the scheme Bearer nor
  /// DPoP.
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

  /// Throws when the query or the body contains an access token in addition to the header: it would be ambiguous which
  /// one counts (RFC 6750 §2).
  static func mustBeAlone(in request: Request) throws(OAuthError) {
    let parameters = [try? request.queryParameters(), try? request.form()]
    guard parameters.allSatisfy({ $0?.values(of: "access_token").isEmpty ?? true }) else {
      throw OAuthError(.invalidRequest, "the access token was sent twice: send it only in the header Authorization")
    }
  }

  /// Checks that the access token was sent with the right scheme, and with a proof of the key to which it is bound.
  ///
  /// - Returns: the proof. The caller marks it as used after the rate limit of the token's device, so that the requests
  ///   of one viewer cannot fill the memory for all proofs.
  func check(
    _ claims: AccessTokenClaims, _ request: Request, at address: String, _ core: ServiceCore
  ) throws(OAuthError) -> DPoPProof? {
    guard let thumbprint = claims.thumbprint else {
      guard !isBound else { throw OAuthError(.invalidToken, "the token is not bound to a key: send it as Bearer") }
      return nil
    }
    guard isBound else {
      throw OAuthError(
        .invalidToken, "the token is bound to a key: send it as DPoP, with a proof", asksForProof: true)
    }
    guard let proof = try core.oauth.proofs.read(request, at: address, accessToken: token, core.clock) else {
      throw OAuthError(.invalidDPoPProof, "the token is bound to a key: send a proof in the header DPoP")
    }
    guard proof.thumbprint == thumbprint else {
      throw OAuthError(.invalidToken, "the proof was signed with another key than the one that the token is bound to")
    }
    return proof
  }
}

extension ServiceCore {
  /// Counts the request against the device's rate limit, then marks the DPoP proof as used.
  func admit(_ signIn: AuthenticationRecord, with proof: DPoPProof?) throws {
    try limits.take(signIn.deviceHash, at: signIn.authentication.requestor)
    if let proof { try oauth.proofs.take(proof, of: .signedIn(signIn.authentication.viewer), clock) }
  }
}

/// An access token with a verified signature, and its introspection response.
struct VerifiedAccessToken: Sendable {
  let claims: AccessTokenClaims
  let grant: GrantID?
  let keyID: String
  /// The introspection response (RFC 7662 §2.2), as bytes.
  ///
  /// It stays the same for the token's whole life.
  let description: [UInt8]

  init(_ claims: AccessTokenClaims, keyID: String) {
    self.claims = claims
    self.keyID = keyID
    grant = GrantID(claims.grant)
    var object: JSONObject = [
      "active": true, "scope": .string(claims.scope.text), "client_id": .string(claims.client.text),
      "token_type": .string(claims.thumbprint == nil ? "Bearer" : "DPoP"), "sub": .string(claims.subject),
      "aud": .string(claims.audience), "iss": .string(claims.issuer), "jti": .string(claims.id),
      "iat": .integer(claims.issued.second), "exp": .integer(claims.expires.second),
    ]
    object["cnf"] = claims.thumbprint.map { .object(["jkt": .string($0)]) }
    description = object.bytes()
  }
}
