/// Why a request of a client was refused, as RFC 6749 §5.2 and its relatives say it.
///
/// The sentence is written here and never repeats what was sent: a description may only hold printable ASCII without
/// quotes and backslashes, and what a stranger sends may be shown on somebody's terminal.
package struct OAuthError: Error, Hashable, Sendable {
  /// The registered words.
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
  /// What is the matter and what to do.
  package let sentence: String
  /// Whether the client used HTTP's own way to say who it is, and is to be answered in it.
  package var asksForBasic = false
  /// Whether a token is only taken with a proof of its key.
  package var asksForProof = false

  package init(_ code: Code, _ sentence: StaticString, asksForBasic: Bool = false, asksForProof: Bool = false) {
    self.code = code
    self.sentence = "\(sentence)"
    self.asksForBasic = asksForBasic
    self.asksForProof = asksForProof
  }

  /// The status of the answer: 400 for all that a client can mend in its request (RFC 8628 §3.5: pending, too), 401 for
  /// a client or a token that is not what it says, 503 when it may ask again with the same request.
  package var status: Int {
    switch code {
    case .invalidClient, .invalidToken: 401
    case .insufficientScope: 403
    case .temporarilyUnavailable: 503
    default: 400
    }
  }
}
