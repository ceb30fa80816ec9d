package import HTTPServer
internal import RegentHTTPCodec
internal import RegentPairingWire

/// Serves the public keys that verify media tokens.
///
/// Caches may store this response, unlike the other responses of protocol V1.
package struct KeySet: Sendable {
  private let core: ServiceCore

  package init(_ core: ServiceCore) { self.core = core }

  package func mount(_ routes: inout Routes) {
    let path = "/oauth/jwks.json"
    routes.get(path) { [core] request, _ in
      .now(Self.answer(request, core.mediaKeys.published(at: core.clock.now)))
    }
    routes.on(.options, path) { _, _ in .now(CrossOrigin.preflight([.get])) }
  }

  /// Responds with a key set and its entity tag; 304 when the client already has the set.
  static func answer(_ request: Request, _ keys: [UInt8]) -> Response {
    let tag = EntityTag.of(keys)
    let isKnown = EntityTag.isNamed(tag, in: request.headers(.ifNoneMatch))
    var response =
      isKnown
      ? Response(.notModified) : Response(.ok, type: "application/jwk-set+json", body: keys)
    response.addHeader(.cacheControl, "public, max-age=300")
    response.addHeader(.etag, tag)
    // Pages of all origins may read the public keys. The header is sent even without `Origin`, because caches use the
    // response for all origins.
    response.addHeader(HeaderName(literal: "Access-Control-Allow-Origin"), "*")
    return response
  }
}
