internal import HTTPServer
internal import PairingStore
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentOAuth
internal import RegentPairing

/// What a token is worth now (RFC 7662), and its end (RFC 7009).
///
/// Access tokens are told to confidential clients of the same requestor, which is how an API asks; refresh tokens to
/// their own client alone. Whatever is not to be told is `{"active":false}`, without a reason.
struct IntrospectionEndpoint: Sendable {
  private let core: ServiceCore
  private static let inactive: JSONObject = ["active": false]

  init(_ core: ServiceCore) { self.core = core }

  func mount(_ routes: inout Routes) {
    OAuthFrame(core).mount(&routes, .introspection, introspect)
    OAuthFrame(core).mount(&routes, .revocation, revoke)
  }

  // MARK: - Introspection

  @Sendable private func introspect(_ call: OAuthCall) async throws -> Response {
    let client = try await core.client(try call.shown(), call.request)
    guard client.metadata.method != .none else {
      throw OAuthError(.invalidClient, "only a client with a secret or a key may ask about tokens")
    }
    return OAuthFrame.response(.ok, try await worth(try token(call), client))
  }

  private func worth(_ text: String, _ client: KnownClient) async throws -> JSONObject {
    if let standing = try await standing(ofRefreshToken: text) {
      return standing.client.id == client.record.id ? refreshToken(standing) : Self.inactive
    }
    guard let claims = core.claims(ofAccessToken: text), let standing = try await core.standing(claims),
      standing.client.requestor == client.record.requestor
    else { return Self.inactive }
    var object: JSONObject = [
      "active": true, "scope": .string(claims.scope.text), "client_id": .string(claims.client.text),
      "token_type": .string(claims.thumbprint == nil ? "Bearer" : "DPoP"), "sub": .string(claims.subject),
      "aud": .string(claims.audience), "iss": .string(claims.issuer), "jti": .string(claims.id),
      "iat": .integer(claims.issued.second), "exp": .integer(claims.expires.second),
    ]
    object["cnf"] = claims.thumbprint.map { .object(["jkt": .string($0)]) }
    return object
  }

  private func refreshToken(_ standing: StandingGrant) -> JSONObject {
    let grant = standing.grant
    var object: JSONObject = [
      "active": true, "scope": .string(grant.scope), "client_id": .string(grant.client.text),
      "sub": .string(core.userID(of: standing.signIn.record)), "iss": .string(core.oauth.metadata.issuer),
      "exp": .integer(grant.expires.second),
    ]
    object["cnf"] = grant.thumbprint.map { .object(["jkt": .string($0)]) }
    return object
  }

  /// The grant whose latest refresh token this is.
  private func standing(ofRefreshToken text: String) async throws -> StandingGrant? {
    guard let (id, generation) = core.oauth.refreshTokens.read(text), let standing = try await core.standing(id),
      standing.grant.generation == generation
    else { return nil }
    return standing
  }

  // MARK: - Revocation

  /// Ends the grant of either kind of token, whatever kind the client says it is.
  @Sendable private func revoke(_ call: OAuthCall) async throws -> Response {
    let client = try await core.client(try call.shown(), call.request)
    let text = try token(call)
    let id =
      core.oauth.refreshTokens.read(text)?.grant ?? core.claims(ofAccessToken: text).flatMap { GrantID($0.grant) }
    if let id, let standing = try await core.standing(id) {
      guard standing.client.id == client.record.id else {
        throw OAuthError(.invalidGrant, "the token is another client's")
      }
      let line = core.audit.entry(.service, "grant.end", id.text, detail: "by its client \(client.record.name)")
      try await core.signInTransitions.endGrants(GrantFilter(id: id), audit: line)
    }
    var response = Response(.ok)
    response.addHeader(.cacheControl, "no-store")
    return response
  }

  private func token(_ call: OAuthCall) throws(OAuthError) -> String {
    guard let text = call.parameters["token"] else { throw OAuthError(.invalidRequest, "token is missing") }
    return text
  }
}
