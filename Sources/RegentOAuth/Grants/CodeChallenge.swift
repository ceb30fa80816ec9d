internal import RegentCryptography
internal import RegentEncodings
internal import RegentHTTPCodec

/// A PKCE code challenge (RFC 7636).
///
/// The client that redeems the code must send the verifier, the secret of which the challenge is the hash.
package struct CodeChallenge: Sendable, Hashable {
  /// The challenge as the client sent it: the base64url of a SHA-256 hash.
  package let text: String

  /// Restores a PKCE challenge from the database.
  package init?(kept text: String) {
    guard text.utf8.count == 43, (try? Base64URL.decode(text))?.count == 32 else { return nil }
    self.text = text
  }

  /// Reads the PKCE challenge of a request, or `nil` if the request has none.
  ///
  /// The method `plain` is refused: with it, an attacker who can read the request would know the verifier (RFC 9700
  /// §2.1.1).
  package static func read(_ parameters: OAuthParameters) throws(OAuthError) -> CodeChallenge? {
    guard let text = parameters["code_challenge"] else {
      guard parameters["code_challenge_method"] == nil else {
        throw OAuthError(.invalidRequest, "code_challenge_method was sent without code_challenge")
      }
      return nil
    }
    guard let method = parameters["code_challenge_method"], method.utf8.elementsEqual("S256".utf8) else {
      throw OAuthError(.invalidRequest, "code_challenge_method must be S256")
    }
    guard let challenge = CodeChallenge(kept: text) else {
      throw OAuthError(.invalidRequest, "code_challenge must be the base64url of a SHA-256 hash")
    }
    return challenge
  }

  /// Checks a PKCE verifier against the challenge of the code.
  ///
  /// A verifier for a code without a challenge is refused, because an attacker may have removed the challenge from the
  /// request (RFC 9700 §4.8.2).
  package static func check(_ challenge: CodeChallenge?, _ verifier: String?) throws(OAuthError) {
    switch (challenge, verifier) {
    case (nil, nil): return
    case (nil, _?):
      throw OAuthError(.invalidGrant, "code_verifier was sent, but the code was requested without code_challenge")
    case (_?, nil):
      throw OAuthError(.invalidRequest, "code_verifier is missing: the code was requested with code_challenge")
    case (let challenge?, let verifier?):
      guard (43...128).contains(verifier.utf8.count), verifier.utf8.allSatisfy(Characters.isUnreserved),
        constantTimeEqual(
          Array(Base64URL.encode(SHA256.hash(Array(verifier.utf8))).utf8), Array(challenge.text.utf8))
      else { throw OAuthError(.invalidGrant, "code_verifier does not match the code_challenge of the code") }
    }
  }
}
