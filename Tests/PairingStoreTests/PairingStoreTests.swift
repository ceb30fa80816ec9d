import RegentPairing
import PairingStore
import Testing

@Suite struct `Records of the store` {
  @Test func `a hash has exactly thirty-two bytes`() {
    #expect(CodeHash([UInt8](repeating: 1, count: 32)) != nil)
    #expect(CodeHash([]) == nil)
    #expect(TokenHash([UInt8](repeating: 1, count: 33)) == nil)
  }

  @Test func `a secret is never printed, whether by interpolation, reflection or dump`() throws {
    let secret = StoredSecret(Array("hush".utf8))
    var dumped = ""
    dump(secret, to: &dumped)
    let pair = KeyPair(
      publicKey: try #require(PublicKey("k")), requestor: try #require(RequestorID("R")),
      purpose: .calls, secret: secret, created: Instant(milliseconds: 0))
    dump(pair, to: &dumped)
    for text in [
      "\(secret)", String(reflecting: secret), "\(pair)", String(reflecting: pair), dumped,
    ] {
      #expect(!text.contains("104") && !text.contains("hush"), "\(text)")
    }
  }

  @Test func `a session expires when it is idle, and after a month in any case`() throws {
    let start = Instant(milliseconds: 0)
    let session = SessionRecord(
      id: try #require(SessionID("s")),
      token: try #require(TokenHash([UInt8](repeating: 0, count: 32))),
      viewer: Viewer(provider: try #require(ProviderID("p")), account: nil), started: start,
      lastUsed: start)
    #expect(session.expires == start + SessionRecord.idle)
    let month = start + SessionRecord.longest
    #expect(session.used(at: month - .seconds(1)).expires == month)
  }
}
