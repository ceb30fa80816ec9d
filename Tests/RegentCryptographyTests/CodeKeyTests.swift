import RegentEncodings
import Testing

@testable import RegentCryptography

@Suite struct `Keys derived from typed codes` {
  @Test func `PBKDF2 matches the test vector of RFC 7914`() throws {
    let made = try #require(
      KeyStretching.pbkdf2(Secret("Password"), salt: Array("NaCl".utf8), .sha256, rounds: 80_000, count: 32))
    #expect(Hex.encode(made) == "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56")
  }

  @Test func `a code key depends on code, salt and purpose, and can be restored from its stored secret`() throws {
    let made = try [("A", "1", "x"), ("B", "1", "x"), ("A", "2", "x"), ("A", "1", "y")].map { code, salt, purpose in
      try #require(CodeKey(stretching: Secret(code), salt: salt, purpose: purpose))
    }
    #expect(Set(made.map { $0.secret.exposedBytes() }).count == 4)
    let kept = try #require(CodeKey(secret: made[0].secret))
    #expect(kept.isProof(made[0].proof(of: [1, 2]), of: [1, 2]))
    #expect(!kept.isProof(made[1].proof(of: [1, 2]), of: [1, 2]) && !kept.isProof([], of: [1, 2]))
    let box = made[0].seal([7], answering: [1])
    #expect(try kept.open(box, answering: [1]).matches([7]))
    #expect(throws: SealError.self) { try kept.open(box, answering: [2]) }
    #expect(CodeKey(secret: Secret("short")) == nil)
  }
}
