internal import HTTPServer
internal import PairingStore
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentOAuth
internal import RegentPairing

/// Introspection (RFC 7662) and revocation (RFC 7009).
///
/// Only clients with a secret or a key may introspect. An access token may be introspected by its own client, and by
/// clients of the same requestor that an operator created, such as an API. A refresh token may be introspected by its
/// own client only. In all other cases the response is `{"active":false}` without a reason.
struct IntrospectionEndpoint: Sendable {
  private let core: ServiceCore
  private static let inactive = (["active": false] as JSONObject).bytes()

  init(_ core: ServiceCore) { self.core = core }

  func mount(_ routes: inout Routes) {
    OAuthFrame(core).mount(&routes, .introspection, deciding: introspect)
    OAuthFrame(core).mount(&routes, .revocation, revoke)
  }

  // MARK: - Introspection of tokens

  @Sendable private func introspect(_ call: OAuthCall) throws -> Answer {
    let shown = try call.shown()
    if let known = remembered(shown, call) {
      return .now(OAuthFrame.allowing(OAuthFrame.response(.ok, body: known), call.request))
    }
    return OAuthFrame(core).later(call.request) {
      let client = try await core.client(shown, call.request)
      guard client.metadata.method != .none else {
        throw OAuthError(.invalidClient, "only a client with a secret or a key may introspect tokens")
      }
      return OAuthFrame.response(.ok, body: try await worth(try token(call), client))
    }
  }

  /// The introspection response from memory, for a client with a secret.
  ///
  /// The client and the grant must be cached, and no change since may have made them invalid.
  private func remembered(_ shown: ClientAuthentication, _ call: OAuthCall) -> [UInt8]? {
    guard let mark = core.store.standingMark, let client = core.remembered(shown, asOf: mark),
      client.metadata.method != .none, let text = call.parameters["token"],
      let token = core.rememberedAccessToken(text), let id = token.grant,
      let grant = core.oauth.standing.grant(id, asOf: mark, at: core.clock.now),
      grant.client == token.claims.client, client.mayAsk(about: grant.client, of: grant.requestor)
    else { return nil }
    return token.description
  }

  private func worth(_ text: String, _ client: AuthenticatedClient) async throws -> [UInt8] {
    if let standing = try await standing(ofRefreshToken: text) {
      return standing.client.id == client.record.id ? refreshToken(standing).bytes() : Self.inactive
    }
    guard let token = core.accessToken(text), let standing = try await core.standing(token.claims),
      client.mayAsk(about: standing.client.id, of: standing.client.requestor)
    else { return Self.inactive }
    return token.description
  }

  private func refreshToken(_ standing: ValidGrant) -> JSONObject {
    let grant = standing.grant
    var object: JSONObject = [
      "active": true, "scope": .string(grant.scope), "client_id": .string(grant.client.text),
      "sub": .string(core.userID(of: standing.signIn.record)), "iss": .string(core.oauth.metadata.issuer),
      "exp": .integer(grant.expires.second),
    ]
    object["cnf"] = grant.thumbprint.map { .object(["jkt": .string($0)]) }
    return object
  }

  /// Reads the valid grant of a refresh token, if the token is the grant's latest.
  private func standing(ofRefreshToken text: String) async throws -> ValidGrant? {
    guard let (id, generation) = core.oauth.refreshTokens.read(text), let standing = try await core.standing(id),
      standing.grant.generation == generation
    else { return nil }
    return standing
  }

  // MARK: - Revocation

  /// Ends the grant of an access or refresh token (RFC 7009).
  ///
  /// `token_type_hint` is ignored.
  @Sendable private func revoke(_ call: OAuthCall) async throws -> Response {
    let client = try await core.client(try call.shown(), call.request)
    let text = try token(call)
    let id =
      core.oauth.refreshTokens.read(text)?.grant ?? core.claims(ofAccessToken: text).flatMap { GrantID($0.grant) }
    // A paused grant can be ended as well, so it is looked up here too.
    if let id, let grant = try await core.kept(id, at: core.clock.now) {
      guard grant.client == client.record.id else {
        throw OAuthError(.invalidGrant, "the token belongs to another client")
      }
      let line = core.audit.entry(
        .service, "grant.end", id.text, detail: "the client \(client.record.name.quoted) ended its own grant")
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
