/// The part of DER (X.690) that is needed to exchange keys and signatures with OpenSSL.
enum DER {
  static func sequence(_ parts: [UInt8]...) -> [UInt8] { tagged(0x30, parts.flatMap(\.self)) }

  /// Encodes an unsigned integer from its bytes, most significant first.
  static func integer(_ magnitude: [UInt8]) -> [UInt8] {
    var bytes = Array(magnitude.drop { $0 == 0 })
    // The highest bit of an integer in DER is its sign, so a number with that bit set needs a zero byte before it.
    if bytes.first.map({ $0 >= 0x80 }) ?? true { bytes.insert(0, at: 0) }
    return tagged(0x02, bytes)
  }

  static func bitString(_ bytes: [UInt8]) -> [UInt8] { tagged(0x03, [0] + bytes) }

  private static func tagged(_ tag: UInt8, _ body: [UInt8]) -> [UInt8] {
    var length: [UInt8] = []
    var rest = body.count
    if rest < 0x80 {
      length = [UInt8(rest)]
    } else {
      while rest > 0 {
        length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
        rest >>= 8
      }
      length.insert(0x80 | UInt8(length.count), at: 0)
    }
    return [tag] + length + body
  }
}

extension DER {
  /// Converts an ECDSA signature from DER to r ‖ s with 32 bytes each; nil if it is not a P-256 signature in DER.
  static func rawSignature(_ der: [UInt8]) -> [UInt8]? {
    // SEQUENCE { INTEGER r, INTEGER s } of a P-256 signature is shorter than 128 bytes, so each length takes one byte.
    guard der.count > 8, der[0] == 0x30, Int(der[1]) == der.count - 2 else { return nil }
    var place = 2
    var raw: [UInt8] = []
    for _ in 0..<2 {
      guard place + 2 <= der.count, der[place] == 0x02 else { return nil }
      let end = place + 2 + Int(der[place + 1])
      guard end <= der.count else { return nil }
      let number = der[(place + 2)..<end].drop { $0 == 0 }
      guard number.count <= 32 else { return nil }
      raw += [UInt8](repeating: 0, count: 32 - number.count) + number
      place = end
    }
    return place == der.count ? raw : nil
  }

  /// Converts an ECDSA signature from r ‖ s to DER.
  static func ecdsaSignature(_ raw: [UInt8]) -> [UInt8] {
    sequence(integer(Array(raw.prefix(32))), integer(Array(raw.dropFirst(32))))
  }
}

extension DER {
  /// The SubjectPublicKeyInfo of an RSA key (RFC 8017 A.1).
  static func rsaKey(modulus: [UInt8], exponent: [UInt8]) -> [UInt8] {
    // The OID 1.2.840.113549.1.1.1 (RSA) and NULL.
    let algorithm: [UInt8] = [
      0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]
    return sequence(algorithm, bitString(sequence(integer(modulus), integer(exponent))))
  }

  /// The SubjectPublicKeyInfo of a P-256 key (RFC 5480).
  static func p256Key(x: [UInt8], y: [UInt8]) -> [UInt8] {
    // The OIDs 1.2.840.10045.2.1 (EC key) and 1.2.840.10045.3.1.7 (P-256).
    let algorithm: [UInt8] = [
      0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86,
      0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07,
    ]
    return sequence(algorithm, bitString([0x04] + x + y))
  }

  /// The SubjectPublicKeyInfo of an Ed25519 key (RFC 8410).
  static func ed25519Key(_ bytes: [UInt8]) -> [UInt8] {
    sequence([0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70], bitString(bytes))
  }

  /// The 32 bytes of an Ed25519 key from its SubjectPublicKeyInfo; nil if it is not the exact DER encoding of one.
  static func ed25519Bytes(_ spki: [UInt8]) -> [UInt8]? {
    guard spki.count == 44 else { return nil }
    let bytes = Array(spki.suffix(32))
    return ed25519Key(bytes) == spki ? bytes : nil
  }
}
