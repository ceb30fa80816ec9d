internal import RegentEncodings
public import RegentJSON

/// Signed tokens in JWS compact serialization (RFC 7515), the format of JWTs.
///
/// The sender of a token cannot choose the key or the algorithm with which it is verified. The key fixes the algorithm,
/// which excludes `none` and the use of a public key as an HMAC key. Keys in the header (`jwk`, `jku`, `x5u`) and
/// extensions (`crit`) are refused. Each part has only one valid encoding.
public enum JWS {
  /// The default for the maximum length of a signed token, in bytes.
  public static let longest = 16 * 1024

  /// Signs `payload`.
  ///
  /// `type` is the type of the token (for example `at+jwt`), which the verifier must check.
  public static func sign(
    _ payload: [UInt8], with key: SigningKey, keyID: String?, type: String?
  ) throws(KeyError) -> String {
    let text = signedText(payload, key.algorithm.rawValue, keyID, type)
    return text + "." + Base64URL.encode(try key.sign(text.utf8.span))
  }

  static func sign(_ payload: [UInt8], header: JSONObject, with key: SigningKey) throws(KeyError) -> String {
    let text = Base64URL.encode(header.bytes()) + "." + Base64URL.encode(payload)
    return text + "." + Base64URL.encode(try key.sign(text.utf8.span))
  }

  /// Authenticates `payload` with HS256; the key must be for SHA-256 and have at least 32 bytes.
  public static func authenticate(
    _ payload: [UInt8], with key: HMACKey, keyID: String?, type: String?
  ) throws(JWSError) -> String {
    try checkHS256(key)
    let text = signedText(payload, "HS256", keyID, type)
    return text + "." + Base64URL.encode(key.code(text))
  }

  private static func signedText(
    _ payload: [UInt8], _ algorithm: String, _ keyID: String?, _ type: String?
  ) -> String {
    let header = JSONWriter.bytes { json in
      json.object { json in
        json.member("alg", algorithm)
        if let type { json.member("typ", type) }
        if let keyID { json.member("kid", keyID) }
      }
    }
    return Base64URL.encode(header) + "." + Base64URL.encode(payload)
  }

  /// RFC 7518 §3.2: the key must be as long as the hash.
  ///
  /// An attacker could guess a short key offline.
  fileprivate static func checkHS256(_ key: HMACKey) throws(JWSError) {
    guard key.algorithm == .sha256, key.keyLength >= 32 else { throw .unsuitableKey }
  }
}

/// A token that was parsed but not verified.
///
/// The token names the key that has signed it, but its contents must not be trusted.
public struct UnverifiedJWS: Sendable {
  /// The algorithm that the token's header names.
  public let algorithm: String
  /// The key id that the token's header names.
  public let keyID: String?
  private let header: JSONObject
  private let payload: [UInt8]
  private let signature: [UInt8]
  private let signedText: [UInt8]

  /// Parses a signed token of at most `longest` bytes.
  ///
  /// Verifies nothing.
  public init(_ compact: String, longest: Int = JWS.longest) throws(JWSError) {
    try self.init(compact, longest: longest, refusing: ["crit", "b64", "jku", "jwk", "x5u"])
  }

  init(_ compact: String, longest: Int, refusing names: [String]) throws(JWSError) {
    let text = Array(compact.utf8)
    guard text.count <= longest else { throw .tooLong(limit: longest) }
    let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw .malformed("three parts were expected") }
    let headerBytes = try UnverifiedJWS.decode(parts[0], "header")
    payload = try UnverifiedJWS.decode(parts[1], "payload")
    signature = try UnverifiedJWS.decode(parts[2], "signature")
    signedText = Array(text[..<parts[1].endIndex])
    do {
      let limits = JSONLimits(depth: 8, bytes: longest)
      guard let header = try JSONValue(reading: headerBytes, limits: limits).object else {
        throw JWSError.malformed("the header is not an object")
      }
      self.header = header
      algorithm = try header.string("alg")
      keyID = try header.optionalString("kid")
      _ = try header.optionalString("typ")
    } catch let error as JWSError {
      throw error
    } catch {
      throw .malformed("header: \(error)")
    }
    // The algorithm's name is compared without regard to case, because some libraries accept NONE for none.
    guard algorithm.lowercased() != "none" else { throw .unsecured }
    for name in names where header[name] != nil { throw .refusedHeader(name) }
  }

  /// Whether the token's header has a type (`typ`).
  public var hasType: Bool { header["typ"] != nil }

  /// The claims before any verification.
  ///
  /// Use these claims only to find out whose key must verify the token.
  public var unverifiedClaims: JSONObject? { try? VerifiedJWS(header: header, payload: payload).claims() }

  /// The public key in the token's header (`jwk`).
  ///
  /// Only ``SelfSignedJWS`` accepts one.
  var embeddedKey: JSONObject? { header["jwk"]?.object }

  /// Whether the type in the token's header (`typ`) is `type`.
  public func isType(_ type: String) -> Bool { VerifiedJWS(header: header, payload: []).isType(type) }

  /// Verifies the token.
  ///
  /// Throws unless `key` signed it with the key's own algorithm.
  public func verified(with key: VerifyingKey) throws(JWSError) -> VerifiedJWS {
    try checkAlgorithm(key.algorithm.rawValue)
    guard key.isValid(signature, for: signedText) else { throw .badSignature }
    return VerifiedJWS(header: header, payload: payload)
  }

  /// Verifies the token.
  ///
  /// Throws unless `key` authenticated it with HS256.
  public func verified(with key: HMACKey) throws(JWSError) -> VerifiedJWS {
    try JWS.checkHS256(key)
    try checkAlgorithm("HS256")
    guard key.isValid(signature, for: signedText) else { throw .badSignature }
    return VerifiedJWS(header: header, payload: payload)
  }

  /// Verifies the token.
  ///
  /// Throws unless a key of the set that matches the header's `kid` and `alg` signed it.
  public func verified(with keys: JWKSet) throws(JWSError) -> VerifiedJWS {
    guard let wanted = SignatureAlgorithm(rawValue: algorithm) else {
      throw .otherAlgorithm(
        expected: SignatureAlgorithm.allCases.map(\.rawValue).joined(separator: ", "))
    }
    let candidates = keys.keys(keyID, wanted)
    guard !candidates.isEmpty else { throw .unknownKey }
    for key in candidates where key.isValid(signature, for: signedText) {
      return VerifiedJWS(header: header, payload: payload)
    }
    throw .badSignature
  }

  private func checkAlgorithm(_ expected: String) throws(JWSError) {
    guard Array(algorithm.utf8) == Array(expected.utf8) else {
      throw .otherAlgorithm(expected: expected)
    }
  }

  private static func decode(_ part: ArraySlice<UInt8>, _ name: String) throws(JWSError) -> [UInt8] {
    do throws(TextError) {
      return try Base64URL.decode(part.span)
    } catch {
      throw .malformed("\(name): \(error)")
    }
  }
}

/// A token whose signature was verified.
public struct VerifiedJWS: Sendable {
  public let header: JSONObject
  /// The bytes that were signed as the token's contents.
  public let payload: [UInt8]

  /// Whether the header's `typ` is `type`, for example `at+jwt`.
  ///
  /// Check the type before using the claims: a token of one type must not be accepted as another (RFC 8725 §3.11).
  public func isType(_ type: String) -> Bool {
    guard let stated = header["typ"]?.string else { return false }
    // RFC 7515 §4.1.9: the prefix `application/` is optional.
    return lowercased(stated) == lowercased(type)
      || lowercased(stated) == lowercased("application/" + type)
  }

  /// Converts only A to Z to lower case.
  ///
  /// String's `lowercased()` would also turn U+212A (KELVIN SIGN) into a k.
  private func lowercased(_ text: String) -> [UInt8] {
    text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
  }

  /// The contents of the token as a JSON object, as JWTs have it.
  public func claims() throws(JWSError) -> JSONObject {
    do throws(JSONError) {
      if let object = try JSONValue(reading: payload, limits: JSONLimits(depth: 16)).object {
        return object
      }
    } catch {
      throw .malformed("payload: \(error)")
    }
    throw .malformed("the payload is not an object")
  }
}
