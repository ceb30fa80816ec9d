import RegentCryptography
import Testing

struct PEMTests {
  static let block = "-----BEGIN PUBLIC KEY-----\nAQID\n-----END PUBLIC KEY-----\n"

  @Test(arguments: [0, 1, 47, 48, 49, 96, 1000])
  func `a written PEM block is read back`(_ count: Int) throws {
    let bytes = Random.bytes(count)
    let text = PEM.encode("THING", bytes)
    #expect(try PEM.decode(text) == [PEM.Block(label: "THING", bytes: bytes)])
    #expect(text.utf8.split(separator: 0x0A).allSatisfy { $0.count <= 64 })
  }

  @Test(arguments: [
    block, block.split(separator: "\n").joined(separator: "\r\n"),
    "Subject: somebody\n\n" + block + "after\n",
    "  -----BEGIN PUBLIC KEY-----  \n A Q\n".replacing(" A Q", with: "AQ")
      + "\n\tID \n-----END PUBLIC KEY-----",
    block + "-----BEGIN OTHER----\nnot a mark\n",
  ])
  func `text around a PEM block and the form of its lines do not matter`(_ text: String) throws {
    #expect(try PEM.decode(text) == [PEM.Block(label: "PUBLIC KEY", bytes: [1, 2, 3])])
  }

  @Test(arguments: [
    "-----BEGIN A-----\nAQID\n", "-----BEGIN A-----\nAQID\n-----END B-----\n", "-----END A-----\n",
    "-----BEGIN A-----\n-----BEGIN A-----\n-----END A-----\n",
    "-----BEGIN A-----\nAQI\n-----END A-----\n",
    "-----BEGIN A-----\nAQ=D\n-----END A-----\n", "-----BEGIN A-----\nAQ ID\n-----END A-----\n",
    "-----BEGIN A-----\nKey: value\n\nAQID\n-----END A-----\n",
    "-----BEGIN A-----\nAQIé\n-----END A-----\n",
  ])
  func `a broken PEM block is refused`(_ text: String) {
    #expect(throws: KeyError.self) { try PEM.decode(text) }
  }

  @Test func `a PEM text that is too long is refused`() {
    #expect(throws: KeyError.self) {
      try PEM.decode(String(repeating: "x", count: PEM.longest + 1))
    }
  }

  @Test(arguments: [
    "", "no key", block.replacing("PUBLIC KEY", with: "THING"), block + block, block,
  ])
  func `a PEM text without exactly one usable key is refused`(_ text: String) {
    #expect(throws: KeyError.self) { try VerifyingKey(pem: text) }
    #expect(throws: KeyError.self) { try SigningKey(pem: Secret(text)) }
    #expect(throws: KeyError.self) { try RSAEncryptionKey(pem: text) }
  }

  @Test(arguments: [
    "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAQID\n-----END ENCRYPTED PRIVATE KEY-----\n",
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: x\n\nAQID\n-----END RSA PRIVATE KEY-----\n",
  ])
  func `a password-protected key is refused with the command that removes the password`(_ text: String) {
    let error = #expect(throws: KeyError.encrypted) { try SigningKey(pem: Secret(text)) }
    #expect(error?.description.contains("openssl pkey") == true)
  }
}
