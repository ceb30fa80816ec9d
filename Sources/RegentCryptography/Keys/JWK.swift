internal import RegentEncodings
public import RegentJSON

/// A public key as JSON (RFC 7517, RFC 7518 §6, RFC 8037) and its key id.
public struct JWK: Sendable, Hashable {
  public let key: VerifyingKey
  /// The id with which the header of a signature names this key.
  public let keyID: String?

  /// Makes a JWK; ``VerifyingKey/thumbprint`` is a good key id.
  public init(_ key: VerifyingKey, keyID: String?) {
    self.key = key
    self.keyID = keyID
  }

  /// Reads a public key from a JSON object.
  ///
  /// It refuses private and symmetric keys, keys that are not for signatures, an `alg` that does not match the key, and
  /// numbers that are not in their canonical encoding.
  public init(reading object: JSONObject) throws(KeyError) {
    do throws(JSONShapeError) {
      let keyID = try object.optionalString("kid")
      let use = try object.optionalString("use")
      let algorithm = try object.optionalString("alg")
      let operations = try object.optionalStrings("key_ops")
      for name in ["d", "p", "q", "dp", "dq", "qi", "oth", "k"] where object[name] != nil {
        throw JSONShapeError(privateMember: name)
      }
      let key = try JWK.key(object)
      guard use ?? "sig" == "sig", operations?.contains("verify") ?? true else {
        throw JSONShapeError(name: "use", expected: "\"sig\"", isMissing: false)
      }
      guard algorithm.map({ Array($0.utf8) == Array(key.algorithm.rawValue.utf8) }) ?? true else {
        throw JSONShapeError(
          name: "alg", expected: "\"\(key.algorithm.rawValue)\"", isMissing: false)
      }
      self.init(key, keyID: keyID)
    } catch {
      throw .malformed("JWK: \(error)")
    }
  }

  public var json: JSONObject {
    var object = key.jwkMembers
    object["use"] = "sig"
    object["alg"] = .string(key.algorithm.rawValue)
    object["kid"] = keyID.map(JSONValue.string)
    return object
  }

  private static func key(_ object: JSONObject) throws(JSONShapeError) -> VerifyingKey {
    // JSON values are compared byte by byte. `==` on String would also accept canonically equivalent spellings.
    let kind = JSONValue.string(try object.string("kty"))
    let spki: [UInt8]
    switch kind {
    case "RSA":
      let modulus = try object.number("n", 256...512)
      let exponent = try object.number("e", 1...4)
      guard modulus[0] != 0 else { throw JSONShapeError(spelling: "n") }
      guard exponent[0] != 0 else { throw JSONShapeError(spelling: "e") }
      spki = DER.rsaKey(modulus: modulus, exponent: exponent)
    case "EC":
      try object.curve("P-256")
      let x = try object.number("x", 32...32)
      spki = DER.p256Key(x: x, y: try object.number("y", 32...32))
    case "OKP":
      try object.curve("Ed25519")
      spki = DER.ed25519Key(try object.number("x", 32...32))
    default:
      throw JSONShapeError(name: "kty", expected: "\"RSA\", \"EC\" or \"OKP\"", isMissing: false)
    }
    do throws(KeyError) {
      return try VerifyingKey(spki: spki)
    } catch {
      throw JSONShapeError(
        name: kind == "RSA" ? "n" : "x", expected: "a key that can be used", isMissing: false)
    }
  }
}

extension JSONShapeError {
  fileprivate init(spelling name: String) {
    self.init(
      name: name, expected: "a number of the right size without leading zeros", isMissing: false)
  }

  fileprivate init(privateMember name: String) {
    self.init(name: name, expected: "left out: this is a private key", isMissing: false)
  }
}

extension JSONObject {
  fileprivate func curve(_ name: String) throws(JSONShapeError) {
    guard try JSONValue.string(string("crv")) == .string(name) else {
      throw JSONShapeError(name: "crv", expected: "\"\(name)\"", isMissing: false)
    }
  }

  fileprivate func number(
    _ name: String, _ sizes: ClosedRange<Int>
  ) throws(JSONShapeError) -> [UInt8] {
    let text = try string(name)
    guard text.utf8.count <= 1024, let bytes = try? Base64URL.decode(text),
      sizes.contains(bytes.count)
    else {
      throw JSONShapeError(name: name, expected: "base64url of the right length", isMissing: false)
    }
    return bytes
  }
}

extension VerifyingKey {
  /// The members that define the key, in the order that the thumbprint needs (RFC 7638).
  var jwkMembers: JSONObject {
    switch algorithm {
    case .rs256:
      ["e": .base64URL(number("e")), "kty": "RSA", "n": .base64URL(number("n"))]
    case .es256:
      [
        "crv": "P-256", "kty": "EC", "x": .base64URL(number("qx", size: 32)),
        "y": .base64URL(number("qy", size: 32)),
      ]
    case .edDSA:
      // The SubjectPublicKeyInfo of an Ed25519 key ends with the 32 bytes of the key.
      ["crv": "Ed25519", "kty": "OKP", "x": .base64URL(Array(spki.suffix(32)))]
    }
  }

  /// The SHA-256 thumbprint of the key as base64url (RFC 7638), which can serve as a key id.
  public var thumbprint: String {
    Base64URL.encode(SHA256.hash(jwkMembers.bytes()))
  }

  private func number(_ name: String, size: Int = 0) -> [UInt8] {
    do throws(LibraryError) { return try key.number(name, size: size) } catch { stop(error) }
  }
}

extension JSONValue {
  fileprivate static func base64URL(_ bytes: [UInt8]) -> JSONValue {
    .string(Base64URL.encode(bytes))
  }
}
