/// Why a token is not accepted.
public enum JWSError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Longer than the limit.
  case tooLong(limit: Int)
  /// Not the form of a JWS.
  case malformed(String)
  /// A token that says it needs no signature.
  case unsecured
  /// A header parameter that would let the sender choose the key or change the rules.
  case refusedHeader(String)
  /// The algorithm is not the one of the key.
  case otherAlgorithm(expected: String)
  /// No key of that id and algorithm is known.
  case unknownKey
  /// An HMAC key of another hash function, or shorter than 32 bytes.
  case unsuitableKey
  /// The signature is not one of this key.
  case badSignature

  /// A sentence for the log; never contains the token.
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
