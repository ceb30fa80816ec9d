/// Why a signed token is refused.
public enum JWSError: Error, Sendable, Equatable, CustomStringConvertible {
  case tooLong(limit: Int)
  /// The text is not a signed token. The value says what was expected.
  case malformed(String)
  /// The token has `alg` `none`, so it is not signed.
  case unsecured
  /// The header has a parameter with which the sender could choose the key or change the rules.
  case refusedHeader(String)
  /// The token's algorithm is not the one of the key.
  case otherAlgorithm(expected: String)
  /// No key with the token's id and algorithm is known.
  case unknownKey
  /// The HMAC key is for another hash function than SHA-256, or shorter than 32 bytes.
  case unsuitableKey
  /// The signature of the token was not made with this key.
  case badSignature

  /// A sentence about the error for the log.
  ///
  /// It never contains the token.
  public var description: String {
    switch self {
    case .tooLong(let limit): "the token is longer than \(limit) bytes"
    case .malformed(let what): "not a signed token: \(what)"
    case .unsecured: "the token is not signed (alg none)"
    case .refusedHeader(let name): "the token's header has \"\(name)\", which is refused"
    case .otherAlgorithm(let expected): "the token does not use \(expected)"
    case .unknownKey: "the token names a key that is not known"
    case .unsuitableKey: "HS256 needs an HMAC-SHA256 key of at least 32 bytes"
    case .badSignature: "the token's signature is wrong"
    }
  }
}
