import RegentEncodings
import RegentJSON
import RegentCryptography
import RegentPairing
import RegentPairingWire
import Testing

@testable import MediaTokenVerifier

@Suite("Media token verifier")
struct MediaTokenVerifierTests {
  let mint = Mint.shared

  @Test func `a token that the service signed is valid as base64 and as text`() async throws {
    let verifier = mint.verifier()
    let token = try mint.token()
    #expect(verifier.verifyNow(token, requestor: "SPORT", at: mint.now).verdict == .valid)
    #expect(verifier.verifyNow(try mint.text(), requestor: "SPORT", at: mint.now).verdict == .valid)
    let check = await verifier.verify(token, requestor: "SPORT", resource: "channel-1", at: mint.now)
    #expect(check.verdict == .valid)
    let contents = try #require(check.contents)
    #expect(contents.resourceID == "channel-1")
    #expect(contents.requestorID == "SPORT")
    #expect(contents.mvpdID == "CABLE")
    #expect(contents.proxyMvpdID == "SMALLCABLE")
    #expect(contents.userSessionGUID == "guid-1")
    #expect(contents.timeIssued == mint.now)
    #expect(contents.timeToLive == .seconds(420))
    #expect(contents.keyID == "key-1")
  }

  @Test func `a doubled opening tag, as the documentation prints it, is accepted`() throws {
    let text = try mint.text().replacingFirst("</signatureInfo>", "<signatureInfo>")
    #expect(mint.verifier().verifyNow(text, requestor: "SPORT", at: mint.now).verdict == .valid)
  }

  @Test(
    arguments: [
      (-30_000, MediaTokenVerdict.valid), (-30_001, .expired), (0, .valid), (449_999, .valid),
      (450_000, .expired), (86_400_000, .expired), (-315_360_000_000, .expired),
    ] as [(Int64, MediaTokenVerdict)])
  func `a token is valid during its lifetime and 30 seconds before and after it`(
    offset: Int64, verdict: MediaTokenVerdict
  ) throws {
    let now = Instant(milliseconds: mint.now.milliseconds + offset)
    #expect(mint.verifier().verifyNow(try mint.token(), requestor: "SPORT", at: now).verdict == verdict)
  }

  @Test func `a token that is dated in the future is explained by clocks that differ`() throws {
    let token = try mint.token()
    func check(_ offset: Int64) -> MediaTokenCheck {
      mint.verifier().verifyNow(
        token, requestor: "SPORT", at: Instant(milliseconds: mint.now.milliseconds + offset))
    }
    #expect(check(-40_000).ahead == .seconds(40))
    #expect(check(-40_000).explanation == "TOKEN_EXPIRED: dated 40 s in the future: the clocks differ")
    #expect(check(86_400_000).ahead == nil)
    #expect(check(86_400_000).explanation == "TOKEN_EXPIRED")
    #expect(check(0).explanation == "VALID_TOKEN")
  }

  @Test(arguments: [
    "channel-2", "", "channel-1 ", "CHANNEL-1", "channel\u{2011}1", "channel-1\0",
  ])
  func `a token is valid for its own resource only`(resource: String) throws {
    let check = mint.verifier().verifyNow(try mint.token(), requestor: "SPORT", resource: resource, at: mint.now)
    #expect(check.verdict == .invalidResource)
    #expect(check.contents?.resourceID == "channel-1")
  }

  @Test(arguments: [
    "NEWS", "", "SPOR", "SPORTS", "sport", " SPORT", "SPORT ", "SPORT\0", "%53PORT", "SPORT%00", "\u{FF33}PORT",
  ])
  func `a token is valid for its own requestor only`(requestor: String) async throws {
    let token = try mint.token()
    let check = mint.verifier().verifyNow(token, requestor: requestor, resource: "channel-1", at: mint.now)
    #expect(check.verdict == .invalidRequestor)
    #expect(check.contents?.requestorID == "SPORT")
    let later = await mint.verifier().verify(token, requestor: requestor, at: mint.now)
    #expect(later.verdict == .invalidRequestor)
  }

  @Test func `resources are compared byte for byte`() throws {
    // Swift's string comparison treats the Kelvin sign (U+212A) as the letter K.
    let token = try mint.token(resource: "K")
    #expect(
      mint.verifier().verifyNow(token, requestor: "SPORT", resource: "\u{212A}", at: mint.now).verdict
        == .invalidResource)
    #expect(mint.verifier().verifyNow(token, requestor: "SPORT", resource: "K", at: mint.now).verdict == .valid)
  }

  @Test(arguments: [
    "", "x", "=", "PHNpZ25hdHVyZUluZm8+", "<signatureInfo></signatureInfo>", "%%%%",
    "<signatureInfo>AAAA</signatureInfo><shortAuthorizationToken></shortAuthorizationToken>",
    String(repeating: "A", count: 200_000), "\0", "\u{FEFF}",
  ])
  func `text that is not a token has an invalid format`(text: String) {
    let check = mint.verifier().verifyNow(text, requestor: "SPORT", at: mint.now)
    #expect(check.verdict == .invalidFormat)
    #expect(check.contents == nil)
  }

  @Test func `a token signed with another key is refused, whatever key id it names`() throws {
    let other = try SigningKey.generate(.rs256, rsaBits: 2048)
    let forged = try mint.token(signedBy: other)
    #expect(mint.verifier().verifyNow(forged, requestor: "SPORT", at: mint.now).verdict == .invalidSignature)
    let unknown = try mint.token(signedBy: other, keyID: "key-2")
    #expect(mint.verifier().verifyNow(unknown, requestor: "SPORT", at: mint.now).verdict == .invalidSignature)
  }

  @Test func `a good signature under another key's id is refused`() throws {
    let other = try SigningKey.generate(.rs256, rsaBits: 2048)
    let keys = JWKSet([
      JWK(mint.key.publicKey, keyID: "key-1"), JWK(other.publicKey, keyID: "key-2"),
    ])
    let verifier = MediaTokenVerifier(keys: .text(keys.json.description))
    #expect(
      verifier.verifyNow(try mint.token(keyID: "key-2"), requestor: "SPORT", at: mint.now).verdict == .invalidSignature)
    #expect(verifier.verifyNow(try mint.token(), requestor: "SPORT", at: mint.now).verdict == .valid)
  }

  @Test func `without keys every well-formed token has the verdict unknown`() throws {
    let token = try mint.token()
    for keys in ["", "{}", #"{"keys":[]}"#, "<html>"] {
      let verifier = MediaTokenVerifier(keys: .text(keys))
      #expect(!verifier.hasKeys)
      #expect(verifier.verifyNow(token, requestor: "SPORT", at: mint.now).verdict == .unknown)
      #expect(verifier.verifyNow("x", requestor: "SPORT", at: mint.now).verdict == .invalidFormat)
    }
  }

  @Test func `a token with any bit of its text flipped is never valid`() throws {
    let verifier = mint.verifier()
    let text = Array(try mint.text().utf8)
    var seen: Set<MediaTokenVerdict> = []
    for place in text.indices {
      for bit in 0..<8 {
        var mutated = text
        mutated[place] ^= 1 << UInt8(bit)
        let check = verifier.verifyNow(Base64.encode(mutated), requestor: "SPORT", at: mint.now)
        #expect(check.verdict != .valid, "byte \(place), bit \(bit)")
        #expect(check.contents == nil)
        seen.insert(check.verdict)
      }
    }
    #expect(seen == [.invalidFormat, .invalidSignature])
  }

  @Test func `a token with any bit of its base64 flipped is never valid`() throws {
    let verifier = mint.verifier()
    let letters = Array(try mint.token().utf8)
    for place in letters.indices {
      for bit in 0..<7 {
        var mutated = letters
        mutated[place] ^= 1 << UInt8(bit)
        // A line end after the token is allowed, because copying a token may add one.
        guard place != letters.count - 1 || ![0x0A, 0x0D].contains(mutated[place]) else { continue }
        let text = String(decoding: mutated, as: UTF8.self)
        #expect(verifier.verifyNow(text, requestor: "SPORT", at: mint.now).verdict != .valid, "letter \(place)")
      }
    }
  }

  @Test func `a token that was cut or extended is never valid`() throws {
    let verifier = mint.verifier()
    let text = Array(try mint.text().utf8)
    for count in 0..<text.count {
      #expect(
        verifier.verifyNow(Base64.encode(Array(text.prefix(count))), requestor: "SPORT", at: mint.now).verdict != .valid
      )
    }
    for extra in [
      "x", " ", "<!-- -->", "\0", "<shortAuthorizationToken></shortAuthorizationToken>",
    ] {
      #expect(
        verifier.verifyNow(Base64.encode(text + Array(extra.utf8)), requestor: "SPORT", at: mint.now).verdict
          == .invalidFormat)
      #expect(
        verifier.verifyNow(Base64.encode(Array(extra.utf8) + text), requestor: "SPORT", at: mint.now).verdict
          == .invalidFormat)
    }
  }

  @Test func `a very long lifetime does not overflow`() throws {
    let token = try mint.token(lifetime: .milliseconds(999_999_999_999_999))
    #expect(mint.verifier().verifyNow(token, requestor: "SPORT", at: mint.now).verdict == .valid)
  }

  @Test(arguments: [
    ("max-age=300", 300), ("public, max-age=120", 120), ("max-age=\"90\"", 90), ("no-store", 0),
    ("max-age=300, no-cache", 300), ("MAX-AGE = 60", 60), ("max-age=99999999", 86_400),
  ])
  func `the lifetime of the keys is read from Cache-Control`(header: String, seconds: Int) {
    #expect(MediaTokenKeys.maximumAge(header) == .seconds(seconds))
  }

  @Test(arguments: ["", "max-age", "max-age=x", "max-age=-5", "private", "s-maxage=3"])
  func `a Cache-Control header without a usable max-age gives no lifetime`(header: String) {
    #expect(MediaTokenKeys.maximumAge(header) == nil)
  }
}
