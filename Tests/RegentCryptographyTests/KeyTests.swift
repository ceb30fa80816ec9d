import RegentEncodings
import RegentJSON
import TestSupport
import Testing

@testable import RegentCryptography

struct KeyTests {
  static func ed25519(_ secret: String) throws -> SigningKey {
    try SigningKey(pkcs8: Secret(copying: hex("302e020100300506032b657004220420" + secret)))
  }

  @Test(arguments: [
    (
      "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
      "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
        + "d25bf5f0595bbe24655141438e7a100b"
    ),
    (
      "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
      "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
        + "387b2eaeb4302aeeb00d291612bb0c00"
    ),
  ])
  func `Ed25519 matches the test vectors of RFC 8032`(
    secret: String, publicKey: String, message: String, signature: String
  ) throws {
    let key = try KeyTests.ed25519(secret)
    #expect(key.algorithm == .edDSA)
    #expect(Hex.encode(key.publicKey.spki).hasSuffix(publicKey))
    #expect(Hex.encode(try key.sign(hex(message))) == signature)
    #expect(key.publicKey.isValid(hex(signature), for: hex(message)))
  }

  @Test(arguments: SignatureAlgorithm.allCases)
  func `a signature is verified only by the matching public key and for the exact message`(
    _ algorithm: SignatureAlgorithm
  ) throws {
    let key = try SigningKey.generate(algorithm, rsaBits: 2048)
    let message = Array("message".utf8)
    let signature = try key.sign(message)
    #expect(key.algorithm == algorithm)
    #expect(key.publicKey.isValid(signature, for: message))
    #expect(!key.publicKey.isValid(signature, for: message + [0]))
    #expect(!key.publicKey.isValid(signature, for: []))
    #expect(!key.publicKey.isValid([], for: message))
    #expect(!key.publicKey.isValid(signature + [0], for: message))
    #expect(!key.publicKey.isValid(signature.dropLast(), for: message))
    #expect(!key.publicKey.isValid(repeated(0, signature.count), for: message))
    for place in signature.indices {
      var changed = signature
      changed[place] ^= 0x01
      #expect(!key.publicKey.isValid(changed, for: message))
    }
    let other = try SigningKey.generate(algorithm, rsaBits: 2048)
    #expect(!other.publicKey.isValid(signature, for: message))
    #expect(other.publicKey != key.publicKey)
    #expect(try key.publicKey.isValid(key.sign([UInt8]()), for: [UInt8]()))
    #expect(LibraryError("look").reasons.isEmpty)
  }

  @Test(arguments: SignatureAlgorithm.allCases)
  func `keys are read back from PEM, PKCS 8, SubjectPublicKeyInfo and JWK`(
    _ algorithm: SignatureAlgorithm
  ) throws {
    let key = try SigningKey.generate(algorithm, rsaBits: 2048)
    let signature = try key.sign([1, 2, 3])
    #expect(try SigningKey(pem: key.pem()).publicKey == key.publicKey)
    #expect(try SigningKey(pkcs8: key.pkcs8()).publicKey == key.publicKey)
    for publicKey in [
      try VerifyingKey(pem: key.publicKey.pem()), try VerifyingKey(spki: key.publicKey.spki),
      try JWK(reading: JWK(key.publicKey, keyID: "k").json).key,
    ] {
      #expect(publicKey == key.publicKey)
      #expect(publicKey.algorithm == algorithm)
      #expect(publicKey.isValid(signature, for: [1, 2, 3]))
    }
  }

  @Test func `one signing key can be used by many threads at once`() async throws {
    for algorithm in [SignatureAlgorithm.es256, .edDSA] {
      let key = try SigningKey.generate(algorithm)
      await withTaskGroup(of: Bool.self) { group in
        for task in 0..<8 {
          group.addTask {
            (0..<50).allSatisfy { number in
              let message = Array("\(task) \(number)".utf8)
              guard let signature = try? key.sign(message) else { return false }
              return key.publicKey.isValid(signature, for: message)
            }
          }
        }
        for await isRight in group { #expect(isRight) }
      }
    }
  }

  @Test func `an Ed25519 key is read and written in the form of OpenSSL, and similar keys are refused`() throws {
    // The example of RFC 8410, section 10.1.
    let pem = """
      -----BEGIN PUBLIC KEY-----
      MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
      -----END PUBLIC KEY-----

      """
    let key = try VerifyingKey(pem: pem)
    #expect(key.algorithm == .edDSA && key.pem() == pem && key.spki.count == 44)
    // X25519 and Ed448 have other algorithm identifiers. The last two changes make the lengths inconsistent.
    for (place, byte) in [(8, UInt8(0x6E)), (8, 0x71), (1, 0x2B), (5, 0x02)] {
      var other = key.spki
      other[place] = byte
      #expect(throws: KeyError.self, "byte \(place)") { try VerifyingKey(spki: other) }
    }
    #expect(throws: KeyError.self) { try VerifyingKey(spki: key.spki + [0]) }
    #expect(throws: KeyError.self) { try VerifyingKey(spki: Array(key.spki.dropLast())) }
  }

  @Test func `a private key whose halves do not match is refused`() throws {
    // An EC key contains both halves. An Ed25519 key in the form of RFC 8410 has only one, so it cannot be
    // inconsistent.
    let one = try SigningKey.generate(.es256).pkcs8().exposedBytes()
    let two = try SigningKey.generate(.es256).pkcs8().exposedBytes()
    // The last 65 bytes are the public point.
    let mixed = one.dropLast(65) + two.suffix(65)
    #expect(throws: KeyError.self) { try SigningKey(pkcs8: Secret(copying: Array(mixed))) }
  }

  @Test(arguments: [1024, 2047, 4097, 8192])
  func `an RSA key of an unsupported size is not generated`(_ bits: Int) {
    #expect(throws: KeyError.rsaSize(bits: bits)) {
      try SigningKey.generate(.rs256, rsaBits: bits)
    }
  }

  // The fuzzer found the last exponent.
  @Test(arguments: [[UInt8(0)], [1], [2], [0x01, 0x00, 0x00], [1, 0, 0, 0, 1], [0x14, 0x00]])
  func `an RSA key with an invalid exponent is refused`(_ exponent: [UInt8]) throws {
    let modulus = try Base64URL.decode(#require(JWKTests.rfc7638["n"]?.string))
    let good = DER.rsaKey(modulus: modulus, exponent: [1, 0, 1])
    #expect(throws: Never.self) { try VerifyingKey(spki: good) }
    #expect(throws: KeyError.self) {
      try VerifyingKey(spki: DER.rsaKey(modulus: modulus, exponent: exponent))
    }
    // An even modulus.
    #expect(throws: KeyError.self) {
      try VerifyingKey(spki: DER.rsaKey(modulus: modulus.dropLast() + [2], exponent: [1, 0, 1]))
    }
  }

  @Test func `every truncated encoded key is refused`() throws {
    let spki = try SigningKey.generate(.es256).publicKey.spki
    for length in 0..<spki.count {
      #expect(throws: KeyError.self) { try VerifyingKey(spki: Array(spki[..<length])) }
    }
    #expect(throws: KeyError.self) { try VerifyingKey(spki: spki + [0]) }
    #expect(LibraryError("look").reasons.isEmpty)
  }
}

struct JWKTests {
  static let rfc7638: JSONObject = [
    "kty": "RSA", "e": "AQAB", "alg": "RS256", "kid": "2011-04-29",
    "n": .string(
      "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWK"
        + "RXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQM"
        + "icAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2Nc"
        + "Rwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"),
  ]
  static let rfc8037: JSONObject = [
    "kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
  ]
  static let rfc7515: JSONObject = [
    "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
    "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
  ]

  @Test func `key thumbprints match RFC 7638 and RFC 8037`() throws {
    let rsa = try JWK(reading: JWKTests.rfc7638)
    #expect(rsa.key.thumbprint == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
    #expect(rsa.keyID == "2011-04-29")
    let ed25519 = try JWK(reading: JWKTests.rfc8037)
    #expect(ed25519.key.thumbprint == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
  }

  @Test func `a JWK is written as it was read`() throws {
    #expect(
      try JWK(reading: JWKTests.rfc7515).json.description
        == #"{"crv":"P-256","kty":"EC","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","#
        + #""y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","use":"sig","alg":"ES256"}"#)
    #expect(try JWK(reading: JWKTests.rfc7638).json["n"] == JWKTests.rfc7638["n"])
  }

  static let changes: [(String, JSONValue?)] = [
    ("kty", nil), ("kty", "oct"), ("kty", "O\u{212A}P"), ("kty", 1), ("kty", "ec"), ("crv", nil),
    ("crv", "P-384"),
    ("crv", "secp256k1"), ("x", nil), ("x", ""), ("x", 1), ("x", "AA"),
    ("x", "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU="),
    ("x", "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEV"),
    ("x", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"),
    ("y", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), ("y", nil), ("use", "enc"), ("use", 1),
    ("alg", "RS256"), ("alg", "none"), ("alg", "HS256"), ("kid", 7), ("key_ops", ["sign"]),
    ("key_ops", "verify"),
    ("d", "AA"), ("k", "AA"),
  ]

  @Test(arguments: changes)
  func `a JWK with one wrong member is refused`(name: String, value: JSONValue?) {
    var object = JWKTests.rfc7515
    object[name] = value
    #expect(throws: KeyError.self) { try JWK(reading: object) }
    #expect(LibraryError("look").reasons.isEmpty)
  }

  @Test(arguments: [
    ("e", "AA"), ("e", "AQ"), ("e", "Ag"), ("e", "AAEAAQ"), ("e", ""), ("n", "AQAB"), ("n", ""),
  ])
  func `an RSA JWK with an invalid number is refused`(name: String, value: String) {
    var object = JWKTests.rfc7638
    object[name] = .string(value)
    #expect(throws: KeyError.self) { try JWK(reading: object) }
  }

  @Test func `an RSA modulus has no leading zeros and 2048 to 4096 bits`() throws {
    let bytes = try Base64URL.decode(#require(JWKTests.rfc7638["n"]?.string))
    for modulus in [[0] + bytes, bytes.dropLast(), Array(bytes.dropFirst()), bytes + bytes + [1]] {
      var object = JWKTests.rfc7638
      object["n"] = .string(Base64URL.encode(Array(modulus)))
      #expect(throws: KeyError.self) { try JWK(reading: object) }
    }
  }

  @Test func `a key set skips unusable keys and refuses two keys with one id`() throws {
    let key = try SigningKey.generate(.edDSA).publicKey
    let other = try SigningKey.generate(.edDSA).publicKey
    let document: JSONValue = [
      "keys": [
        .object(JWK(key, keyID: "a").json), ["kty": "oct", "k": "AA"], ["kty": "future"],
        .object(JWKTests.rfc7515), .object(JWK(other, keyID: "b").json),
      ],
      "other": 1,
    ]
    let set = try JWKSet(reading: document.bytes())
    #expect(set.keys.count == 3)
    #expect(set.keys("a", .edDSA) == [key])
    #expect(set.keys("a", .es256) == [])
    #expect(set.keys(nil, .edDSA) == [key, other])
    #expect(set.keys("c", .edDSA) == [])
    #expect(try JWKSet(reading: set.json.bytes()) == set)
    let repeated = JWKSet([JWK(key, keyID: "a"), JWK(other, keyID: "a")])
    #expect(throws: KeyError.self) { try JWKSet(reading: repeated.json.bytes()) }
  }

  @Test(arguments: ["", "[]", "{}", #"{"keys":{}}"#, #"{"keys":[1]}"#, #"{"keys":[],"keys":[]}"#])
  func `a document that is no key set is refused`(_ document: String) {
    #expect(throws: KeyError.self) { try JWKSet(reading: Array(document.utf8)) }
  }

  @Test func `a key set with too many keys is refused`() {
    let document: JSONValue = ["keys": .array(.init(repeating: ["kty": "x"], count: 65))]
    #expect(throws: KeyError.self) { try JWKSet(reading: document.bytes()) }
  }
}
