import RegentEncodings
import Testing

struct TextTests {
  static let rfc4648 = [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
    ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
  ]

  @Test(arguments: rfc4648)
  func `base64 and base64url match the test vectors of RFC 4648`(plain: String, text: String) throws {
    let bytes = Array(plain.utf8)
    #expect(Base64.encode(bytes) == text)
    #expect(try Base64.decode(text) == bytes)
    let bare = text.prefix { $0 != "=" }
    #expect(Base64URL.encode(bytes) == bare)
    #expect(try Base64URL.decode(String(bare)) == bytes)
  }

  @Test(arguments: 0..<18)
  func `the end of plain text is found at every position and after any bytes`(place: Int) {
    for byte in 0...255 as ClosedRange<UInt8> {
      for other in [0x20, 0x21, 0x2B, 0x2D, 0x61, 0x7E] as [UInt8] {
        var text = [UInt8](repeating: other, count: 18)
        text[place] = byte
        let isPlain = (0x20...0x7E).contains(byte) && byte != UInt8(ascii: ",")
        for start in [0, 1, place, place + 1] {
          let end = start > place || isPlain ? 18 : max(start, place)
          #expect(text.span.endOfPlainText(from: start, before: UInt8(ascii: ",")) == end, "\(byte) at \(place)")
        }
        // With two ends, the first one counts.
        text[17] = 0xFF
        let first = isPlain ? 17 : place
        if place < 17 { #expect(text.span.endOfPlainText(from: 0, before: UInt8(ascii: ",")) == first) }
      }
    }
  }

  @Test func `the byte comparison finds a text only at the offset where it starts`() {
    func spells(_ bytes: [UInt8], _ text: String, _ start: Int) -> Bool { bytes.span.spells(text, from: start) }
    for size in 0..<26 {
      let text = String((0..<size).map { Character(Unicode.Scalar(UInt8(0x41 + $0))) })
      for start in 0..<4 {
        let bytes = [UInt8](repeating: 0x2E, count: start) + text.utf8
        #expect(spells(bytes, text, start) && spells(bytes + [0x2E], text, start))
        #expect(!spells(bytes, text + "x", start) && !spells(bytes, text, start + 1) && !spells(bytes, text, -1))
        for place in 0..<size {
          var wrong = bytes
          wrong[start + place] ^= 0x20
          #expect(!spells(wrong, text, start))
        }
      }
    }
  }

  @Test func `a span is copied into an array, and an array of zeros has the requested length`() {
    for count in [0, 1, 7, 32, 1000] {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
      #expect([UInt8](copying: bytes.span) == bytes)
      #expect([UInt8](zeros: count) == bytes.map { _ in 0 })
    }
  }

  @Test func `bytes of every value and length are decoded from base64, base64url and hex`() throws {
    for count in 0..<70 {
      let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max) }
      #expect(try Base64.decode(Base64.encode(bytes)) == bytes)
      #expect(try Base64URL.decode(Base64URL.encode(bytes)) == bytes)
      #expect(try Base64.decodeLeniently(Base64URL.encode(bytes)) == bytes)
      #expect(try Base64.decodeLeniently(Base64.encode(bytes)) == bytes)
      #expect(try Hex.decode(Hex.encode(bytes)) == bytes)
    }
    let all = Array(UInt8.min...UInt8.max)
    #expect(try Base64.decode(Base64.encode(all)) == all)
    #expect(try Hex.decode(Hex.encode(all)) == all)
    #expect(Base64.encode([0xFB, 0xFF]) == "+/8=")
    #expect(Base64URL.encode([0xFB, 0xFF]) == "-_8")
  }

  @Test(arguments: [
    ("Zg", TextError.Problem.length, 2), ("Zg=", .length, 3), ("Zg===", .length, 5),
    ("Z", .length, 1),
    ("=", .length, 1), ("====", .padding, 0), ("Z===", .padding, 1), ("Zg==Zg==", .padding, 2),
    ("Zm9v====", .padding, 4), ("Zm=v", .padding, 2), ("=m9v", .padding, 0),
    ("Zh==", .trailingBits, 1),
    ("Zm9=", .trailingBits, 2), ("Zm9v\n", .length, 5), ("Zm9\n", .character, 3),
    ("Zm 9", .character, 2),
    ("Zm-_", .character, 2), ("Zm9\0", .character, 3), ("Zmé", .character, 2),
    (" Zm9", .character, 0),
  ])
  func `strict base64 refuses missing padding, line breaks and other second spellings of a value`(
    text: String, problem: TextError.Problem, offset: Int
  ) {
    #expect(throws: TextError(encoding: "base64", problem: problem, offset: offset)) {
      try Base64.decode(text)
    }
  }

  @Test(arguments: [
    ("Z", TextError.Problem.length, 1), ("Zg==", .padding, 2), ("Zh", .trailingBits, 1),
    ("Zm9", .trailingBits, 2), ("Zm+/", .character, 2), ("Zm9v\n", .character, 4),
    ("Zm9vZ", .length, 5), ("Zm.9", .character, 2), ("Zm8=", .padding, 3),
  ])
  func `strict base64url refuses padding, line breaks and other second spellings of a value`(
    text: String, problem: TextError.Problem, offset: Int
  ) {
    #expect(throws: TextError(encoding: "base64url", problem: problem, offset: offset)) {
      try Base64URL.decode(text)
    }
  }

  @Test func `every text that base64url accepts is the one that it writes`() throws {
    // All texts of two bytes: of 65,536, exactly 256 are an encoded byte.
    var accepted = 0
    for first in UInt8.min...UInt8.max {
      for second in UInt8.min...UInt8.max {
        let text = [first, second]
        guard let bytes = try? Base64URL.decode(text.span) else { continue }
        accepted += 1
        #expect(Base64URL.encode(bytes) == String(decoding: text, as: UTF8.self))
      }
    }
    #expect(accepted == 256)
  }

  @Test(arguments: [
    "aGk-_w==", "aGk-_w", "aGk+/w==", "aGk+/w", " aGk+/w==\r\n", "aGk+\r\n/w==", "aGk /w==",
    "aGk+/x",
  ])
  func `lenient base64 reads what careless senders write`(_ text: String) throws {
    #expect(try Base64.decodeLeniently(text) == [0x68, 0x69, 0x3E, 0xFF])
  }

  @Test(arguments: ["a", "aG%3D", "aGk.", "aG\0k"])
  func `lenient base64 decoding refuses characters outside the base64 alphabets`(_ text: String) {
    #expect(throws: TextError.self) { try Base64.decodeLeniently(text) }
  }

  @Test(arguments: ["0", "0g", "0x00", "00 ", "AB", "é"])
  func `hex decoding refuses upper case, odd lengths and other characters`(_ text: String) {
    #expect(throws: TextError.self) { try Hex.decode(text) }
  }

  @Test func `the decoder for typed hex accepts upper and lower case`() throws {
    #expect(try Hex.decodeEitherCase("aBcD") == [0xAB, 0xCD])
    #expect(throws: TextError.self) { try Hex.decodeEitherCase("ag") }
  }
}
