internal import RegentJSON

/// A text signed with the key that its own header carries (`jwk`), as a DPoP proof is (RFC 9449).
///
/// It proves that its sender has the key's other half, and never who the sender is. A reader of its own, because every
/// other token with a key inside is refused (``UnverifiedJWS``): there the sender would choose what it is checked by.
public struct SelfSignedJWS: Sendable {
  /// The key that came along.
  public let key: VerifyingKey
  /// The text, whose signature that key made.
  public let token: VerifiedJWS

  /// Reads a text of at most `longest` bytes and of the kind `type`, and checks its signature.
  ///
  /// Refused: a private half in the key, `none` and HMAC, certificates and addresses of keys, extensions.
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
  /// Signs `payload` with the public half of the key in the header.
  public static func signEmbeddingKey(
    _ payload: [UInt8], with key: SigningKey, type: String
  ) throws(KeyError) -> String {
    let header: JSONObject = [
      "alg": .string(key.algorithm.rawValue), "typ": .string(type), "jwk": .object(key.publicKey.jwkMembers),
    ]
    return try sign(payload, header: header, with: key)
  }
}
