/// A request of a client to the token endpoint.
package enum TokenRequest: Sendable, Hashable {
  /// Redeems the device code of an approved user code (RFC 8628 §3.4).
  case deviceCode(String, verifier: String?)
  /// Exchanges a refresh token (RFC 6749 §6).
  case refresh(String, scope: String?)

  package static let deviceCodeGrant = "urn:ietf:params:oauth:grant-type:device_code"
  package static let refreshGrant = "refresh_token"
  /// The longest code or token that is accepted, in bytes.
  ///
  /// The service never issues longer ones.
  private static let longest = 256

  package init(_ parameters: OAuthParameters) throws(OAuthError) {
    guard let grant = parameters["grant_type"] else {
      throw OAuthError(.invalidRequest, "grant_type is missing")
    }
    switch grant {
    case Self.deviceCodeGrant:
      guard let code = parameters["device_code"] else {
        throw OAuthError(.invalidRequest, "device_code is missing")
      }
      self = .deviceCode(
        try Self.token(code, "this client has no such code: request a new one"),
        verifier: parameters["code_verifier"])
    case Self.refreshGrant:
      guard let token = parameters["refresh_token"] else {
        throw OAuthError(.invalidRequest, "refresh_token is missing")
      }
      self = .refresh(
        try Self.token(token, "the refresh token is not valid any more: sign in again"), scope: parameters["scope"])
    default:
      throw OAuthError(
        .unsupportedGrantType, "grant_type must be urn:ietf:params:oauth:grant-type:device_code or refresh_token")
    }
  }

  private static func token(_ text: String, _ otherwise: StaticString) throws(OAuthError) -> String {
    guard text.utf8.count <= longest else { throw OAuthError(.invalidGrant, otherwise) }
    let bytes = text.utf8.span
    for place in bytes.indices where !isTokenLetter(bytes[place]) { throw OAuthError(.invalidGrant, otherwise) }
    return text
  }

  /// Whether the byte may occur in a code, token, client id or secret of this service.
  ///
  /// None of the allowed bytes needs escaping in a URL.
  package static func isTokenLetter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
    default: false
    }
  }
}
