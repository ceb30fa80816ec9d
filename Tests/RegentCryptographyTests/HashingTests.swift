import RegentCryptography
import RegentEncodings
import Testing

/// Bytes from hexadecimal text, for readable tables of test vectors.
func hex(_ text: String) -> [UInt8] {
  guard let bytes = try? Hex.decode(text) else {
    Issue.record("not hex: \(text)")
    return []
  }
  return bytes
}

func repeated(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }

struct HashingTests {
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ])
  func `SHA-256 matches the test vectors of FIPS 180`(message: String, hash: String) {
    #expect(Hex.encode(SHA256.hash(message)) == hash)
    var parts = SHA256()
    for byte in message.utf8 { parts.update([byte]) }
    let result = parts.finish()
    #expect(Hex.encode(result) == hash)
  }

  @Test func `SHA-256 of a million letters matches the test vector`() {
    var hash = SHA256()
    for _ in 0..<1000 { hash.update(repeated(0x61, 1000)) }
    let result = hash.finish()
    #expect(
      Hex.encode(result)
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test(arguments: [
    ("", "d41d8cd98f00b204e9800998ecf8427e"), ("abc", "900150983cd24fb0d6963f7d28e17f72"),
  ])
  func `MD5 matches the test vectors of RFC 1321`(message: String, hash: String) {
    #expect(Hex.encode(LegacyMD5.hash(message)) == hash)
  }
}

struct HMACTests {
  struct Vector: Sendable {
    let algorithm: HMACKey.Algorithm
    let key: [UInt8]
    let message: [UInt8]
    let code: String

    init(_ algorithm: HMACKey.Algorithm, _ key: [UInt8], _ message: String, _ code: String) {
      self.init(algorithm, key, Array(message.utf8), code)
    }

    init(_ algorithm: HMACKey.Algorithm, _ key: [UInt8], _ message: [UInt8], _ code: String) {
      self.algorithm = algorithm
      self.key = key
      self.message = message
      self.code = code
    }
  }

  static let counting = Array(UInt8(1)...25)
  static let what = "what do ya want for nothing?"

  static let rfc4231 = [
    Vector(
      .sha256, repeated(0x0B, 20), "Hi There",
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
    Vector(
      .sha256, Array("Jefe".utf8), what,
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
    Vector(
      .sha256, repeated(0xAA, 20), repeated(0xDD, 50),
      "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
    Vector(
      .sha256, counting, repeated(0xCD, 50),
      "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
    Vector(
      .sha256, repeated(0xAA, 131), "Test Using Larger Than Block-Size Key - Hash Key First",
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
    Vector(
      .sha256, repeated(0xAA, 131),
      "This is a test using a larger than block-size key and a larger than block-size data. "
        + "The key needs to be hashed before being used by the HMAC algorithm.",
      "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
  ]

  static let rfc2202 = [
    Vector(.sha1, repeated(0x0B, 20), "Hi There", "b617318655057264e28bc0b6fb378c8ef146be00"),
    Vector(.sha1, Array("Jefe".utf8), what, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
    Vector(
      .sha1, repeated(0xAA, 20), repeated(0xDD, 50), "125d7342b9ac11cd91a39af48aa17b4f63f175d3"),
    Vector(.sha1, counting, repeated(0xCD, 50), "4c9007f4026250c6bc8414f9bf50c86c2d7235da"),
    Vector(
      .sha1, repeated(0x0C, 20), "Test With Truncation", "4c1a03424b55e07fe7f27be1d58bb9324a9a5a04"),
    Vector(
      .sha1, repeated(0xAA, 80), "Test Using Larger Than Block-Size Key - Hash Key First",
      "aa4ae5e15272d00e95705637ce8a3b55ed402112"),
    Vector(
      .sha1, repeated(0xAA, 80),
      "Test Using Larger Than Block-Size Key and Larger Than One Block-Size Data",
      "e8e99d0f45237d786d6bbaa7965c7808bbff1a91"),
  ]

  @Test(arguments: rfc4231 + rfc2202)
  func `HMAC matches the test vectors of RFC 4231 and RFC 2202`(_ vector: Vector) throws {
    let key = try HMACKey(vector.algorithm, Secret(copying: vector.key))
    #expect(Hex.encode(key.code(vector.message)) == vector.code)
    #expect(key.isValid(hex(vector.code), for: vector.message))
    // Computed twice, because using the prepared key must not change it.
    #expect(Hex.encode(key.code(vector.message)) == vector.code)
  }

  @Test(arguments: HMACKey.Algorithm.allCases)
  func `an HMAC with a changed bit, or of another length, is refused`(
    _ algorithm: HMACKey.Algorithm
  ) throws {
    let key = try HMACKey(algorithm, Random.secret())
    let message = Array("message".utf8)
    let code = key.code(message)
    #expect(code.count == algorithm.size)
    for bit in 0..<(code.count * 8) {
      var changed = code
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(!key.isValid(changed, for: message))
    }
    for length in 0..<code.count { #expect(!key.isValid(Array(code[..<length]), for: message)) }
    #expect(!key.isValid(code + [0], for: message))
    #expect(!key.isValid(code, for: message + [0]))
    #expect(try !HMACKey(algorithm, Random.secret()).isValid(code, for: message))
  }

  @Test func `an empty HMAC key is refused`() {
    #expect(throws: KeyError.self) { try HMACKey(.sha1, Secret("")) }
  }

  @Test func `one HMAC key can be used by many threads at once`() async throws {
    let key = try HMACKey(.sha256, Secret("key"))
    let expected = (0..<50).map { key.code("message \($0)") }
    await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<8 {
        group.addTask {
          (0..<2_000).allSatisfy { key.code("message \($0 % 50)") == expected[$0 % 50] }
        }
      }
      for await isRight in group { #expect(isRight) }
    }
  }
}

struct HKDFTests {
  @Test func `HKDF matches the test vectors of RFC 5869`() {
    let first = HKDF.derive(
      from: Secret(copying: repeated(0x0B, 22)), salt: Array(0x00...0x0C), info: Array(0xF0...0xF9),
      count: 42)
    #expect(
      first.matches(
        hex(
          "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
        )))

    let second = HKDF.derive(
      from: Secret(copying: Array(0x00...0x4F)), salt: Array(0x60...0xAF),
      info: Array(0xB0...0xFF), count: 82)
    #expect(
      second.matches(
        hex(
          "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09"
            + "da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"
        )))

    let third = HKDF.derive(
      from: Secret(copying: repeated(0x0B, 22)), info: [], count: 42)
    #expect(
      third.matches(
        hex(
          "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
        )))
  }

  @Test func `keys derived for different purposes differ`() {
    let secret = Random.secret()
    #expect(!HKDF.derive(from: secret, info: "a").matches(HKDF.derive(from: secret, info: "b")))
    #expect(HKDF.derive(from: secret, info: "a").matches(HKDF.derive(from: secret, info: "a")))
    #expect(HKDF.derive(from: secret, info: "a", count: HKDF.longest).count == HKDF.longest)
  }
}
