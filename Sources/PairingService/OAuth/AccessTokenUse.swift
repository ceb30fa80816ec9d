internal import HTTPServer
internal import PairingStore
internal import RegentCryptography
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentOAuth
internal import RegentPairing

extension ServiceCore {
  /// What an access token says whose signature is ours and whose time is not over; for whom it is, its reader checks.
  func claims(ofAccessToken text: String) -> AccessTokenClaims? { accessToken(text)?.claims }

  /// The same with what APIs are told of it.
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

  /// An access token whose signature was checked before: whether its time is over, and whether there still is the key
  /// that signed it, are looked at each time.
  func rememberedAccessToken(_ text: String) -> VerifiedAccessToken? {
    guard let known = oauth.accessTokens[text], clock.now < known.claims.expires,
      oauth.keys.publicKey(known.keyID) != nil
    else { return nil }
    return known
  }

  /// The grant of an access token, if it stands; remembered for whoever asks about the token next.
  func standing(_ claims: AccessTokenClaims) async throws(StoreError) -> StandingGrant? {
    let mark = store.standingMark
    guard let id = GrantID(claims.grant), let standing = try await standing(id), standing.client.id == claims.client
    else { return nil }
    if let mark { oauth.standing.keep(standing, asOf: mark) }
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

  /// Whether a grant stands, or waits for an operator, or for the clock to be right.
  func state(of id: GrantID) async throws(StoreError) -> GrantState {
    let state = try await state(of: id, at: clock.now)
    // What is over by a clock that seems to be ahead may not be over: a client that hears of an end throws its tokens
    // away for good.
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

  /// A grant whose time is not over, whether it stands or not.
  func kept(_ id: GrantID, at now: Instant) async throws(StoreError) -> GrantRecord? {
    try await store.grants(GrantFilter(id: id), after: nil, limit: 1, at: now).first
  }
}

/// A grant that opens nothing for a while, and what it stands on.
struct PausedGrant {
  let grant: GrantRecord
  let client: OAuthClientRecord
  let signIn: AuthenticationRecord
}

/// Whether a grant opens anything now.
enum GrantState {
  /// It opens what was given with it.
  case stands(StandingGrant)
  /// Its account or its integration is switched off: it opens nothing, and is as good as before when that ends.
  case paused(PausedGrant)
  /// There is none, or what it stood on is gone.
  case ended

  var grant: GrantRecord? {
    switch self {
    case .stands(let standing): standing.grant
    case .paused(let paused): paused.grant
    case .ended: nil
    }
  }

  /// The sign-in that it stands on.
  var signIn: AuthenticationRecord? {
    switch self {
    case .stands(let standing): standing.signIn.record
    case .paused(let paused): paused.signIn
    case .ended: nil
    }
  }
}

extension OAuthError {
  /// 503, and never `invalid_grant`: upon that one clients throw their refresh token away, which no switch must cost.
  static let paused = OAuthError(
    .temporarilyUnavailable, "switched off for now by whoever runs the service: the refresh token stays good")
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

  /// A token that is in the address or the body as well is refused: nobody could say which of the two counts
  /// (RFC 6750 §2).
  static func mustBeAlone(in request: Request) throws(OAuthError) {
    let parameters = [try? request.queryParameters(), try? request.form()]
    guard parameters.allSatisfy({ $0?.values(of: "access_token").isEmpty ?? true }) else {
      throw OAuthError(.invalidRequest, "the access token is there twice: send it in the header Authorization alone")
    }
  }

  /// Whether the token may be shown in this way, and whether the key that it is bound to was shown with it.
  ///
  /// - Returns: the proof of that key, which its reader uses up after the limit of the token's device: one viewer's
  ///   calls must not fill the room for everybody's proofs.
  func check(
    _ claims: AccessTokenClaims, _ request: Request, at address: String, _ core: ServiceCore
  ) throws(OAuthError) -> DPoPProof? {
    guard let thumbprint = claims.thumbprint else {
      guard !isBound else { throw OAuthError(.invalidToken, "the token is bound to no key: send it as Bearer") }
      return nil
    }
    guard isBound else {
      throw OAuthError(
        .invalidToken, "the token is bound to a key: send it as DPoP with a proof", asksForProof: true)
    }
    guard let proof = try core.oauth.proofs.read(request, at: address, accessToken: token, core.clock) else {
      throw OAuthError(.invalidDPoPProof, "the token is bound to a key: send a proof in the header DPoP")
    }
    guard proof.thumbprint == thumbprint else {
      throw OAuthError(.invalidToken, "the proof is of another key than the token's")
    }
    return proof
  }
}

extension ServiceCore {
  /// Lets a device go on with what a grant opens, and uses the proof up that came along.
  func admit(_ signIn: AuthenticationRecord, with proof: DPoPProof?) throws {
    try limits.take(signIn.deviceHash, at: signIn.authentication.requestor)
    if let proof { try oauth.proofs.take(proof, clock) }
  }
}

/// An access token whose signature was checked, and what APIs are told of it while it counts.
struct VerifiedAccessToken: Sendable {
  let claims: AccessTokenClaims
  let grant: GrantID?
  let keyID: String
  /// The answer to whoever may ask (RFC 7662 §2.2): the same bytes for the token's whole life.
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
