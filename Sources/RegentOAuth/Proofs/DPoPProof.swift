package import RegentCryptography
internal import RegentEncodings
internal import RegentJSON
package import RegentPairing

/// A proof that whoever sends a request has a key (RFC 9449): signed by that key, for this method and address, now.
///
/// Reading it checks what needs nothing but the request: checks 2 to 9 and 12 of §4.3. That there is one header, and
/// that an access token belongs to the key, is for who has them; that it was not used before, for ``DPoPReplay``.
package struct DPoPProof: Sendable, Hashable {
  /// What a proof is for.
  package struct Request: Sendable, Hashable {
    package let method: String
    package let target: ProofTarget
    /// The access token that came along, where one did: the proof must be about it.
    package let accessToken: String?

    package init(method: String, target: ProofTarget, accessToken: String? = nil) {
      self.method = method
      self.target = target
      self.accessToken = accessToken
    }
  }

  package static let type = "dpop+jwt"
  /// The longest proof that is read, in bytes: one with an RSA key of 4,096 bits has 1,700.
  package static let longest = 4096
  /// How far a proof's time may be from ours, when no nonce says that it is new.
  package static let window: Duration = .seconds(60)

  /// The name of the key (RFC 7638): what codes and tokens are bound to.
  package let thumbprint: String
  /// What the service remembers of it: a hash of its id under method and address, because an id may be as long as its
  /// sender likes.
  package let fingerprint: [UInt8]
  /// When it says it was made.
  package let made: Instant
  /// The service's nonce that it repeats.
  package let nonce: String?

  /// Reads a proof.
  ///
  /// - Throws: `invalid_dpop_proof`, with a sentence that says which check it did not pass.
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
    else { throw OAuthError(.invalidDPoPProof, "the proof must say jti, htm, htu and iat") }
    guard method.utf8.elementsEqual(request.method.utf8) else {
      throw OAuthError(.invalidDPoPProof, "the proof is for another method")
    }
    guard ProofTarget(address) == request.target else {
      throw OAuthError(.invalidDPoPProof, "the proof is for another address: htu must be the one that is called")
    }
    if let token = request.accessToken {
      guard let hash = claims["ath"]?.string,
        constantTimeEqual(Array(hash.utf8), Array(Self.hash(ofToken: token).utf8))
      else { throw OAuthError(.invalidDPoPProof, "the proof is about another access token: ath must be its hash") }
    }
    guard let made = time.numericDate else {
      throw OAuthError(.invalidDPoPProof, "the proof's iat is no time")
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

  /// Makes a proof, as a box does.
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
    case .refusedHeader: OAuthError(.invalidDPoPProof, "the proof's header has a member that is refused")
    case .badSignature, .unknownKey:
      OAuthError(.invalidDPoPProof, "the proof was not signed by the key that it carries")
    case .malformed:
      OAuthError(.invalidDPoPProof, "the proof is not a JWT of type dpop+jwt with a public key in jwk")
    }
  }
}
