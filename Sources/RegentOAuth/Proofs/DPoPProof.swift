package import RegentCryptography
internal import RegentEncodings
internal import RegentJSON
package import RegentPairing

/// A DPoP proof (RFC 9449): a JWT that shows that the sender of a request has a private key.
///
/// The proof is signed for one method and one URL, at one time.
///
/// The initializer does checks 2 to 9 and 12 of §4.3, which need only the request. The caller checks that there is one
/// `DPoP` header, and that an access token is bound to this key. ``DPoPReplay`` checks that the proof was not used
/// before.
package struct DPoPProof: Sendable, Hashable {
  /// The request for which a proof must have been made.
  package struct Request: Sendable, Hashable {
    package let method: String
    package let target: ProofTarget
    /// The access token of the request, if it has one.
    ///
    /// The proof must contain the token's hash (`ath`).
    package let accessToken: String?

    package init(method: String, target: ProofTarget, accessToken: String? = nil) {
      self.method = method
      self.target = target
      self.accessToken = accessToken
    }
  }

  package static let type = "dpop+jwt"
  /// The longest proof that is parsed, in bytes.
  ///
  /// A proof with an RSA key of 4,096 bits has 1,700.
  package static let longest = 4096
  /// How far `iat` may be from the service's clock when the proof has no nonce.
  package static let window: Duration = .seconds(60)

  /// The thumbprint of the proof's key (RFC 7638), to which codes and tokens are bound.
  package let thumbprint: String
  /// What the service stores to detect a replay: a hash of key, method, address and `jti`.
  ///
  /// It is hashed because a client may send a `jti` of any length.
  package let fingerprint: [UInt8]
  /// When the client made the proof (the `iat` claim).
  package let made: Instant
  /// The service's nonce that the proof repeats, if any.
  package let nonce: String?

  /// Parses and checks a DPoP proof.
  ///
  /// - Throws: `invalid_dpop_proof` with a sentence that names the failed check.
  package init(_ text: String, for request: Request) throws(OAuthError) {
    let proof: SelfSignedJWS
    let claims: JSONObject
    do throws(JWSError) {
      proof = try SelfSignedJWS(text, type: Self.type, longest: Self.longest)
      claims = try proof.token.claims()
    } catch {
      throw Self.refused(error)
    }
    guard let id = claims["jti"]?.string, !id.isEmpty, let method = claims["htm"]?.string,
      let address = claims["htu"]?.string, let time = claims["iat"], time.double != nil
    else { throw OAuthError(.invalidDPoPProof, "the proof must have the claims jti, htm, htu and iat") }
    guard method.utf8.elementsEqual(request.method.utf8) else {
      throw OAuthError(.invalidDPoPProof, "the proof is for another HTTP method")
    }
    guard ProofTarget(address) == request.target else {
      throw OAuthError(.invalidDPoPProof, "the proof is for another address: htu must be the address of this request")
    }
    if let token = request.accessToken {
      guard let hash = claims["ath"]?.string,
        constantTimeEqual(Array(hash.utf8), Array(Self.hash(ofToken: token).utf8))
      else {
        throw OAuthError(
          .invalidDPoPProof, "the proof is for another access token: ath must be the hash of the token that you send")
      }
    }
    guard let made = time.numericDate else {
      throw OAuthError(.invalidDPoPProof, "the proof's iat must be a time in seconds")
    }
    self.made = made
    if let given = claims["nonce"] {
      guard let text = given.string else { throw OAuthError(.invalidDPoPProof, "the proof's nonce is not a text") }
      nonce = text
    } else {
      nonce = nil
    }
    thumbprint = proof.key.thumbprint
    var remembered = FramedFields(purpose: "dpop-proof", version: 1)
    remembered.append(thumbprint)
    remembered.append(request.method)
    remembered.append(request.target.text)
    remembered.append(id)
    fingerprint = SHA256.hash(remembered.bytes)
  }

  /// Creates a DPoP proof.
  ///
  /// The box uses this for its requests.
  package static func make(
    for request: Request, with key: SigningKey, nonce: String?, at now: Instant
  ) throws(KeyError) -> String {
    var claims: JSONObject = [
      "jti": .string(Random.uuid()), "htm": .string(request.method), "htu": .string(request.target.text),
      "iat": .integer(now.second),
    ]
    claims["nonce"] = nonce.map(JSONValue.string)
    claims["ath"] = request.accessToken.map { .string(hash(ofToken: $0)) }
    return try JWS.signEmbeddingKey(claims.bytes(), with: key, type: type)
  }

  private static func hash(ofToken token: String) -> String {
    Base64URL.encode(SHA256.hash(Array(token.utf8)))
  }

  private static func refused(_ error: JWSError) -> OAuthError {
    switch error {
    case .tooLong: OAuthError(.invalidDPoPProof, "the proof is longer than 4096 bytes")
    case .unsecured, .otherAlgorithm, .unsuitableKey:
      OAuthError(.invalidDPoPProof, "the proof must be signed with RS256, ES256 or EdDSA")
    case .refusedHeader: OAuthError(.invalidDPoPProof, "the proof's header has a member that is not allowed")
    case .badSignature, .unknownKey:
      OAuthError(.invalidDPoPProof, "the proof was not signed by the key that it carries")
    case .malformed:
      OAuthError(.invalidDPoPProof, "the proof is not a JWT of type dpop+jwt with a public key in jwk")
    }
  }
}
