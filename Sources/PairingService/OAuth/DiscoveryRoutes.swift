internal import HTTPServer
internal import RegentHTTPCodec
internal import RegentJSON
internal import RegentOAuth

/// The OAuth discovery documents: the addresses of the endpoints, and the signing keys.
struct DiscoveryRoutes: Sendable {
  private let core: ServiceCore

  init(_ core: ServiceCore) { self.core = core }

  func mount(_ routes: inout Routes) {
    let body = core.oauth.metadata.json.bytes()
    func mount(_ path: String, _ answer: @escaping RouteHandler) {
      routes.get(path, answer)
      routes.on(.options, path) { _, _ in .now(CrossOrigin.preflight([.get])) }
    }
    let document: RouteHandler = { _, _ in .now(Self.document(body)) }
    mount("/oauth" + ServerMetadata.Endpoint.discovery.rawValue, document)
    mount("/oauth/.well-known/oauth-authorization-server", document)
    // RFC 8414 §3.1 puts the well-known part before the issuer's path, outside the path prefix of this service. The
    // document is mounted there only if the path consists of characters that a route may contain.
    let path = core.options.basePath + "/oauth"
    if path.utf8.allSatisfy({ $0 == UInt8(ascii: "/") || TokenRequest.isTokenLetter($0) || $0 == UInt8(ascii: ".") }) {
      mount(ServerMetadata.insertedPath(issuerPath: path), document)
    }
    mount("/oauth" + ServerMetadata.Endpoint.keys.rawValue) { [core] request, _ in
      .now(KeySet.answer(request, core.oauth.keys.published(at: core.clock.now)))
    }
    // The authorization endpoint exists only because the client library MSAL requires its address in the metadata. It
    // refuses every request and never shows a page, so it needs no CORS headers.
    for method in [Method.get, .post] {
      routes.on(method, "/oauth" + ServerMetadata.Endpoint.authorization.rawValue) { _, _ in
        .now(
          OAuthFrame.refusal(
            OAuthError(
              .unsupportedResponseType, "this server has no authorization endpoint: use the device grant (RFC 8628)")))
      }
    }
  }

  private static func document(_ body: [UInt8]) -> Response {
    var response = Response(.ok, type: "application/json", body: body)
    response.addHeader(.cacheControl, "public, max-age=300")
    // The header is sent even without `Origin`, because caches store the response and use it for other origins.
    response.addHeader(HeaderName(literal: "Access-Control-Allow-Origin"), "*")
    return response
  }
}
