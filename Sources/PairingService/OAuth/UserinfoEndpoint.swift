internal import HTTPServer
internal import PairingStore
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentOAuth
internal import RegentPairing

/// The userinfo endpoint, for access tokens with the scope `openid` (OpenID Connect Core §5.3).
///
/// `sub` is the viewer's id for the requestor's apps. It is different for each requestor.
struct UserinfoEndpoint: Sendable {
  private let core: ServiceCore
  private let frame: OAuthFrame

  init(_ core: ServiceCore) {
    self.core = core
    frame = OAuthFrame(core)
  }

  func mount(_ routes: inout Routes) {
    let path = "/oauth" + ServerMetadata.Endpoint.userinfo.rawValue
    for method in [Method.get, .post] {
      routes.on(method, path) { request, _ in
        .later { reply in
          Task { reply.complete(await answer(request.forgetting)) }
        }
      }
    }
    routes.on(.options, path) { _, _ in .now(CrossOrigin.preflight([.get, .post])) }
  }

  private func answer(_ request: Request) async -> Response {
    do {
      try core.limits.take(request.clientAddress)
      var response = OAuthFrame.response(.ok, try await claims(request))
      if request.header(.origin) != nil { CrossOrigin.allow(&response) }
      return response
    } catch {
      return frame.refusal(ofToken: error, for: .openid, to: request)
    }
  }

  private func claims(_ request: Request) async throws -> JSONObject {
    let refused = OAuthError(.invalidToken, "the access token is not valid or has expired: get a new one")
    guard let shown = try TokenCredential(request) else {
      throw OAuthError(.invalidToken, "send an access token in the header Authorization")
    }
    try TokenCredential.mustBeAlone(in: request)
    guard let claims = core.claims(ofAccessToken: shown.token),
      // A token for another API must not be accepted, so that this API cannot learn about its viewer with it.
      claims.audience.utf8.elementsEqual(core.options.publicURL.utf8)
    else { throw refused }
    let proof = try shown.check(claims, request, at: core.oauth.metadata.address(.userinfo), core)
    guard let standing = try await core.standing(claims) else { throw refused }
    try core.admit(standing.signIn.record, with: proof)
    guard claims.scope.contains(.openid) else {
      throw OAuthError(.insufficientScope, "the access token does not have the scope openid")
    }
    let signIn = standing.signIn
    var object: JSONObject = ["sub": .string(claims.subject)]
    if claims.scope.contains(.profile) {
      object["provider"] = .string(signIn.provider.id.text)
      object["provider_name"] = .string(signIn.provider.name)
    }
    return object
  }
}
