internal import RegentJSON

/// A token that is signed with the key in its own header (`jwk`), as a DPoP proof is (RFC 9449).
///
/// Such a token proves that the sender has the private half of that key, but not who the sender is.
///
/// This type has its own parser because ``UnverifiedJWS`` refuses a key in the header: with one, the sender would
/// choose the key that verifies its token.
public struct SelfSignedJWS: Sendable {
  /// The public key from the token's header (`jwk`), with which the token's signature was verified.
  public let key: VerifyingKey
  /// The token, whose signature was verified with ``key``.
  public let token: VerifiedJWS

  /// Parses a token of at most `longest` bytes with the type `type`, and verifies its signature.
  ///
  /// The parser refuses a private key in the header, `none` and HMAC algorithms, certificates, URLs of keys, and
  /// extensions.
  public init(_ compact: String, type: String, longest: Int = JWS.longest) throws(JWSError) {
    let unverified = try UnverifiedJWS(compact, longest: longest, refusing: ["crit", "b64", "jku", "x5u", "x5c"])
    guard unverified.isType(type) else { throw .malformed("typ is not \(type)") }
    guard let object = unverified.embeddedKey else { throw .malformed("the header has no key in jwk") }
    let key: VerifyingKey
    do throws(KeyError) {
      key = try JWK(reading: object).key
    } catch {
      throw .malformed("jwk: \(error)")
    }
    self.key = key
    token = try unverified.verified(with: key)
  }
}

extension JWS {
  /// Signs `payload` and puts the public half of the key into the header.
  public static func signEmbeddingKey(
    _ payload: [UInt8], with key: SigningKey, type: String
  ) throws(KeyError) -> String {
    let header: JSONObject = [
      "alg": .string(key.algorithm.rawValue), "typ": .string(type), "jwk": .object(key.publicKey.jwkMembers),
    ]
    return try sign(payload, header: header, with: key)
  }
}
