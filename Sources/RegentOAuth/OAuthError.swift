/// An error response of the OAuth endpoints (RFC 6749 §5.2 and the RFCs that build on it).
///
/// Its sentence is a fixed text that never repeats the request. `error_description` may contain only printable ASCII
/// without quotes and backslashes (RFC 6749 §5.2), and a terminal may show it.
package struct OAuthError: Error, Hashable, Sendable {
  /// The registered error codes.
  package enum Code: String, Sendable, CaseIterable {
    case invalidRequest = "invalid_request"
    case invalidClient = "invalid_client"
    case invalidGrant = "invalid_grant"
    case unauthorizedClient = "unauthorized_client"
    case unsupportedGrantType = "unsupported_grant_type"
    case unsupportedResponseType = "unsupported_response_type"
    case unsupportedTokenType = "unsupported_token_type"
    case invalidScope = "invalid_scope"
    case authorizationPending = "authorization_pending"
    case slowDown = "slow_down"
    case accessDenied = "access_denied"
    case expiredToken = "expired_token"
    case invalidToken = "invalid_token"
    case insufficientScope = "insufficient_scope"
    case invalidDPoPProof = "invalid_dpop_proof"
    case useDPoPNonce = "use_dpop_nonce"
    case invalidClientMetadata = "invalid_client_metadata"
    case invalidRedirectURI = "invalid_redirect_uri"
    case invalidSoftwareStatement = "invalid_software_statement"
    case unapprovedSoftwareStatement = "unapproved_software_statement"
    case temporarilyUnavailable = "temporarily_unavailable"
  }

  package let code: Code
  /// What is wrong and what the client should do.
  package let sentence: String
  /// Whether the response has `WWW-Authenticate: Basic`, because the client sent an `Authorization` header.
  package var asksForBasic = false
  /// Whether the response has `WWW-Authenticate: DPoP`, because the token needs a proof of its key.
  package var asksForProof = false

  package init(_ code: Code, _ sentence: StaticString, asksForBasic: Bool = false, asksForProof: Bool = false) {
    self.code = code
    self.sentence = "\(sentence)"
    self.asksForBasic = asksForBasic
    self.asksForProof = asksForProof
  }

  /// The HTTP status of the error response.
  ///
  /// It is 400 for everything that the client can correct in its request, and for `authorization_pending` (RFC 8628
  /// §3.5). It is 401 for wrong client credentials or an invalid token, and 503 if the client may send the same request
  /// again.
  package var status: Int {
    switch code {
    case .invalidClient, .invalidToken: 401
    case .insufficientScope: 403
    case .temporarilyUnavailable: 503
    default: 400
    }
  }
}
