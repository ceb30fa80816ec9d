import RegentEncodings
import Testing

@Suite struct `Base64 encoding and decoding` {
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
    ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
  ])
  func `base64 matches the test vectors of RFC 4648`(clear: String, text: String) {
    #expect(Base64.encode(Array(clear.utf8)) == text)
    #expect((try? Base64.decode(text)) == Array(clear.utf8))
    #expect((try? Base64.decodeLeniently(text)) == Array(clear.utf8))
  }

  @Test func `every byte and length is decoded to itself`() {
    for length in 0..<40 {
      let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 37 + length) }
      #expect((try? Base64.decode(Base64.encode(bytes))) == bytes)
    }
    let all = (0...255).map(UInt8.init)
    #expect((try? Base64.decode(Base64.encode(all))) == all)
  }

  @Test(arguments: [
    "Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Zm 9v", "Zm9v\n", "Z-8=", "Z_8=", "=", "====", "Z===",
    "Zg==Zg==", "Zm9v=", "Zé==",
  ])
  func `strict base64 refuses every other spelling`(text: String) {
    #expect((try? Base64.decode(text)) == nil)
  }

  @Test func `lenient base64 reads every form that clients send`() {
    #expect((try? Base64.decodeLeniently("Zg")) == Array("f".utf8))
    #expect((try? Base64.decodeLeniently("Zm9v\r\nYmFy")) == Array("foobar".utf8))
    #expect((try? Base64.decodeLeniently("_-8")) == [0xFF, 0xEF])
    #expect((try? Base64.decodeLeniently("Z")) == nil)
    #expect((try? Base64.decodeLeniently("Zm9v!")) == nil)
  }
}
