import RegentCryptography
import RegentEncodings
import Testing

@Suite("Encrypted tokens (JWE)") struct JWETests {
  private static let key = try? SigningKey.generate(.rs256, rsaBits: 2048)

  private func pair() throws -> (RSAEncryptionKey, RSADecryptionKey) {
    let key = try #require(Self.key)
    return (try RSAEncryptionKey(pem: key.publicKey.pem()), try RSADecryptionKey(pem: key.pem()))
  }

  @Test(arguments: [0, 1, 245, 246, 70_000])
  func `a message of any length is decrypted, and no two encryptions are alike`(length: Int) throws {
    let (receiver, key) = try pair()
    let json = [UInt8](repeating: UInt8(ascii: "a"), count: length)
    let message = try JWE.encrypt(json: json, for: receiver)
    #expect(JWE.decrypt(message, with: key) == json)
    #expect(try JWE.encrypt(json: json, for: receiver) != message)
  }

  @Test func `a message that was changed anywhere is refused`() throws {
    let (receiver, key) = try pair()
    let parts = try JWE.encrypt(json: Array("[]".utf8), for: receiver).split(separator: ".").map(String.init)
    for place in 0..<5 {
      var changed = parts
      var bytes = try Base64URL.decode(parts[place])
      bytes[bytes.count / 2] ^= 1
      changed[place] = Base64URL.encode(bytes)
      #expect(JWE.decrypt(changed.joined(separator: "."), with: key) == nil, "part \(place)")
      changed[place] = ""
      #expect(JWE.decrypt(changed.joined(separator: "."), with: key) == nil, "part \(place) left out")
    }
    for broken in ["", "....", parts.dropLast().joined(separator: "."), parts.joined(separator: ".") + ".x"] {
      #expect(JWE.decrypt(broken, with: key) == nil)
    }
    let other = try RSADecryptionKey(pem: SigningKey.generate(.rs256, rsaBits: 2048).pem())
    #expect(JWE.decrypt(parts.joined(separator: "."), with: other) == nil)
  }
}
