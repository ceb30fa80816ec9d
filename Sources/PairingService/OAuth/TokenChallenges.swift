internal import HTTPServer
internal import RegentCryptography
internal import RegentHTTPCodec
internal import RegentOAuth

// Tells clients in the `WWW-Authenticate` header what is wrong with an access token (RFC 6750 §3, RFC 9449 §7.1).

extension OAuthFrame {
  /// The response to an invalid access token or DPoP proof, at a resource that needs `scope`.
  func refusal(ofToken error: any Error, for scope: Scope.Name, to request: Request) -> Response {
    guard let error = error as? OAuthError else { return response(error, to: request) }
    var response = Self.refusal(error)
    let word = error.code.rawValue
    switch error.code {
    case .useDPoPNonce, .invalidDPoPProof:
      // At a protected resource, an invalid DPoP proof is an invalid credential, hence 401.
      response.status = .unauthorized
      response.addHeader(.wwwAuthenticate, "DPoP error=\"\(word)\", \(Self.algorithms)")
    case .invalidToken where TokenCredential.isShown(request):
      let isBound = error.asksForProof || TokenCredential.isShownAsBound(request)
      response.addHeader(
        .wwwAuthenticate, isBound ? "DPoP error=\"\(word)\", \(Self.algorithms)" : "Bearer error=\"\(word)\"")
    case .invalidToken:
      // The resource accepts both schemes, so both are named.
      response.addHeader(.wwwAuthenticate, "Bearer")
      response.addHeader(.wwwAuthenticate, "DPoP \(Self.algorithms)")
    case .insufficientScope:
      let scheme = TokenCredential.isShownAsBound(request) ? "DPoP" : "Bearer"
      response.addHeader(.wwwAuthenticate, "\(scheme) error=\"\(word)\", scope=\"\(scope.rawValue)\"")
    default: return self.response(error, to: request)
    }
    return finished(response, to: request)
  }

  private static let algorithms =
    "algs=\"\(SignatureAlgorithm.allCases.map(\.rawValue).joined(separator: " "))\""
}

extension TokenCredential {
  /// Whether a request has an access token, valid or not.
  ///
  /// Of a repeated header, the first is used.
  static func isShown(_ request: Request) -> Bool { scheme(request).map { $0 == "bearer" || $0 == "dpop" } ?? false }

  static func isShownAsBound(_ request: Request) -> Bool { scheme(request) == "dpop" }

  private static func scheme(_ request: Request) -> String? {
    request.headers(.authorization).first?.split(separator: " ", maxSplits: 1).first.map { $0.lowercased() }
  }
}
