import RegentEncodings
import RegentJSON
import Testing

@testable import RegentCryptography

struct JWSTests {
  static let payload =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
  /// The example of RFC 7515, appendix A.1.
  static let hs256 =
    "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.\(payload).dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
  static let hs256Key =
    "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"
  /// The example of RFC 7515, appendix A.2.
  static let rs256 =
    "eyJhbGciOiJSUzI1NiJ9.\(payload)."
    + "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJ"
    + "dbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN"
    + "9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXL"
    + "IhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
  static let rs256Key: JSONObject = [
    "kty": "RSA", "e": "AQAB",
    "n": .string(
      "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yR"
        + "T-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-K"
        + "XBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_"
        + "h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"),
  ]
  /// The example of RFC 7515, appendix A.3.
  static let es256 =
    "eyJhbGciOiJFUzI1NiJ9.\(payload)."
    + "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
  /// The example of RFC 8037, appendix A.4.
  static let edDSA =
    "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc."
    + "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"

  @Test func `the example tokens of RFC 7515 and RFC 8037 are verified`() throws {
    let secret = try HMACKey(.sha256, Secret(copying: Base64URL.decode(JWSTests.hs256Key)))
    let first = try UnverifiedJWS(JWSTests.hs256).verified(with: secret)
    #expect(first.isType("JWT"))
    #expect(try first.claims()["iss"] == "joe")
    #expect(try first.claims().int64("exp") == 1_300_819_380)

    let rsa = try JWK(reading: JWSTests.rs256Key).key
    #expect(try UnverifiedJWS(JWSTests.rs256).verified(with: rsa).claims()["iss"] == "joe")
    let ec = try JWK(reading: JWKTests.rfc7515).key
    #expect(try UnverifiedJWS(JWSTests.es256).verified(with: ec).claims()["iss"] == "joe")
    let ed = try JWK(reading: JWKTests.rfc8037).key
    let last = try UnverifiedJWS(JWSTests.edDSA).verified(with: ed)
    #expect(last.payload == Array("Example of Ed25519 signing".utf8))
    #expect(throws: JWSError.self) { try last.claims() }
  }

  @Test(arguments: SignatureAlgorithm.allCases)
  func `a signed token is verified by the matching key only`(_ algorithm: SignatureAlgorithm) throws {
    let key = try SigningKey.generate(algorithm, rsaBits: 2048)
    let other = try SigningKey.generate(algorithm, rsaBits: 2048).publicKey
    let claims: JSONObject = ["sub": "é", "n": 1]
    let token = try JWS.sign(claims.bytes(), with: key, keyID: "k1", type: "at+jwt")
    let read = try UnverifiedJWS(token)
    #expect(read.algorithm == algorithm.rawValue)
    #expect(read.keyID == "k1")
    let verified = try read.verified(with: key.publicKey)
    #expect(try verified.claims() == claims)
    #expect(verified.isType("at+jwt"))
    #expect(verified.isType("AT+JWT"))
    #expect(!verified.isType("JWT"))
    #expect(throws: JWSError.badSignature) { try read.verified(with: other) }

    let both = JWKSet([JWK(other, keyID: "k0"), JWK(key.publicKey, keyID: "k1")])
    #expect(try read.verified(with: both).claims() == claims)
    #expect(throws: JWSError.unknownKey) {
      try read.verified(with: JWKSet([JWK(key.publicKey, keyID: "k2")]))
    }
    #expect(throws: JWSError.badSignature) {
      try read.verified(with: JWKSet([JWK(other, keyID: "k1")]))
    }
    let nameless = try JWS.sign([1], with: key, keyID: nil, type: nil)
    #expect(try UnverifiedJWS(nameless).verified(with: both).payload == [1])
    #expect(try !UnverifiedJWS(nameless).verified(with: both).isType("JWT"))
  }

  @Test func `a token with any character changed is refused`() throws {
    let ec = try JWK(reading: JWKTests.rfc7515).key
    let token = Array(JWSTests.es256.utf8)
    for place in token.indices {
      for letter in [UInt8(ascii: "A"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "=")] {
        guard token[place] != letter else { continue }
        var changed = token
        changed[place] = letter
        let text = String(decoding: changed, as: UTF8.self)
        #expect(throws: JWSError.self) { try UnverifiedJWS(text).verified(with: ec) }
      }
    }
    for length in 0..<token.count {
      let text = String(decoding: token[..<length], as: UTF8.self)
      #expect(throws: JWSError.self) { try UnverifiedJWS(text).verified(with: ec) }
    }
  }

  /// A token with exactly this header, signed with the key.
  private func token(_ header: String, _ key: SigningKey) throws -> String {
    let text = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array("{}".utf8))
    return text + "." + Base64URL.encode(try key.sign(Array(text.utf8)))
  }

  @Test(arguments: [
    #"{"alg":"ES256","crit":["exp"],"exp":1}"#, #"{"alg":"ES256","crit":[]}"#,
    #"{"alg":"ES256","b64":false}"#,
    #"{"alg":"ES256","jku":"https://example.com/keys"}"#,
    #"{"alg":"ES256","x5u":"https://example.com/"}"#,
    #"{"alg":"ES256","jwk":{"kty":"oct","k":"AA"}}"#, #"{"alg":"none"}"#, #"{"alg":"None"}"#,
    #"{"alg":"NONE"}"#,
    #"{"alg":"HS256"}"#, #"{"alg":"RS256"}"#, #"{"alg":"es256"}"#, #"{"alg":"ES384"}"#,
    #"{"alg":""}"#,
    #"{"alg":null}"#, #"{"alg":["ES256"]}"#, #"{}"#, #"[]"#, #""ES256""#,
    #"{"alg":"ES256","alg":"ES256"}"#,
    #"{"alg":"ES256","\u0061lg":"none"}"#, #"{"alg":"ES256","kid":1}"#, #"{"alg":"ES256","typ":1}"#,
    #"{"alg":"ES256"}{}"#, "", "\u{FEFF}{\"alg\":\"ES256\"}",
  ])
  func `a header that changes the verification rules is refused even if it is signed`(_ header: String) throws {
    let key = try SigningKey.generate(.es256)
    let signed = try token(header, key)
    #expect(throws: JWSError.self) { try UnverifiedJWS(signed).verified(with: key.publicKey) }
    let keys = JWKSet([JWK(key.publicKey, keyID: nil)])
    #expect(throws: JWSError.self) { try UnverifiedJWS(signed).verified(with: keys) }
    // A token with a harmless unknown header member is accepted, so the header is the reason for the refusal.
    let plain = try token(#"{"alg":"ES256","x":{"y":1}}"#, key)
    #expect(throws: Never.self) { try UnverifiedJWS(plain).verified(with: key.publicKey) }
  }

  @Test(arguments: ["", "none", "None"])
  func `a token without a signature is refused`(_ algorithm: String) {
    let header = Base64URL.encode(Array(#"{"alg":"\#(algorithm)"}"#.utf8))
    #expect(throws: JWSError.self) {
      try UnverifiedJWS("\(header).e30.").verified(with: JWK(reading: JWKTests.rfc7515).key)
    }
  }

  @Test func `a public key is never used as an HMAC key`() throws {
    let key = try SigningKey.generate(.rs256, rsaBits: 2048).publicKey
    for secret in [key.spki, Array(key.pem().utf8)] {
      let forged = try JWS.authenticate(
        Array("{}".utf8), with: HMACKey(.sha256, Secret(copying: secret)), keyID: nil, type: nil)
      let read = try UnverifiedJWS(forged)
      #expect(throws: JWSError.otherAlgorithm(expected: "RS256")) { try read.verified(with: key) }
      #expect(throws: JWSError.self) { try read.verified(with: JWKSet([JWK(key, keyID: nil)])) }
    }
  }

  @Test func `HS256 needs an HMAC-SHA-256 key of at least 32 bytes`() throws {
    let good = try HMACKey(.sha256, Random.secret(32))
    let token = try JWS.authenticate(Array("{}".utf8), with: good, keyID: nil, type: "JWT")
    #expect(try UnverifiedJWS(token).verified(with: good).claims() == [:])
    for key in try [HMACKey(.sha256, Random.secret(31)), HMACKey(.sha1, Random.secret(32))] {
      #expect(throws: JWSError.unsuitableKey) {
        try JWS.authenticate([], with: key, keyID: nil, type: nil)
      }
      #expect(throws: JWSError.unsuitableKey) { try UnverifiedJWS(token).verified(with: key) }
    }
  }

  @Test(arguments: [
    "", ".", "..", "a.b", "e30.e30.e30.e30", "e30.e30", "e30 .e30.e30", "e30.e30.e30\n",
    "é.e30.e30",
  ])
  func `a text that is not three parts of base64url is refused`(_ text: String) {
    #expect(throws: JWSError.self) { try UnverifiedJWS(text) }
  }

  @Test func `a token that is too long is refused before it is decoded`() {
    #expect(throws: JWSError.tooLong(limit: JWS.longest)) {
      try UnverifiedJWS(String(repeating: "A", count: JWS.longest + 1))
    }
  }
}
