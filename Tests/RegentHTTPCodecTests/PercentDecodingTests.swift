import RegentHTTPCodec
import Testing

@Suite struct PercentDecodingTests {
  @Test(arguments: [
    ("", ""), ("plain", "plain"), ("a%20b", "a b"), ("a+b", "a+b"), ("%e2%82%AC", "€"),
    ("%2f", "/"), ("%25", "%"),
    // Decoded once: the result of an escape is never decoded again.
    ("%252e%252e", "%2e%2e"), ("%2525", "%25"), ("na\u{EF}ve", "na\u{EF}ve"),
  ])
  func `percent escapes are decoded exactly once`(raw: String, expected: String) throws {
    #expect(try PercentDecoding.text(raw) == expected)
  }

  @Test(arguments: [
    ("%", 0), ("a%", 1), ("ab%4", 2), ("%zz", 0), ("%4g", 0), ("%%41", 0), ("%+1", 0), ("% 1", 0),
    ("%u0041", 0), ("ok%2", 2),
  ])
  func `a broken percent escape is refused with its offset`(raw: String, offset: Int) {
    let fault = #expect(throws: PercentDecodingError.self) { try PercentDecoding.text(raw) }
    #expect(fault?.reason == .brokenEscape)
    #expect(fault?.offset == offset)
  }

  @Test(arguments: ["a%00b", "%00", "a\u{0}b"])
  func `a zero byte is refused, raw or escaped`(raw: String) {
    let fault = #expect(throws: PercentDecodingError.self) { try PercentDecoding.text(raw) }
    #expect(fault?.reason == .zeroByte)
    #expect(throws: PercentDecodingError.self) {
      try PercentDecoding.bytes(Array(raw.utf8).span)
    }
  }

  @Test(arguments: [
    "%ff", "%c0%af", "%e0%80%af", "%ed%a0%80", "%f4%90%80%80", "%80", "%c3", "ok%c3%28",
  ])
  func `escaped bytes that are not UTF-8 are refused as text but kept as bytes`(raw: String) throws {
    let fault = #expect(throws: PercentDecodingError.self) { try PercentDecoding.text(raw) }
    #expect(fault?.reason == .notUTF8)
    #expect(try !PercentDecoding.bytes(Array(raw.utf8).span).isEmpty)
  }

  @Test func `raw bytes that are not UTF-8 are refused as text with the offset`() {
    let overlong: [UInt8] = [0x61, 0xC0, 0xAF]
    let fault = #expect(throws: PercentDecodingError.self) {
      try PercentDecoding.text(overlong.span)
    }
    #expect(fault?.reason == .notUTF8)
    #expect(fault?.offset == 1)
  }

  @Test func `a plus sign is decoded as a space in forms only`() throws {
    #expect(try PercentDecoding.text("a+b%2B", plusSign: .space) == "a b+")
    #expect(try PercentDecoding.text("a+b%2B") == "a+b+")
  }

  @Test(arguments: ["", "plain-._~", "a b&c=d", "€/?#%", "\u{1F600}", "line\nbreak"])
  func `an encoded text decodes to itself`(text: String) throws {
    #expect(try PercentDecoding.text(PercentEncoding.component(text)) == text)
  }

  @Test func `percent-encoding escapes all characters except the unreserved ones, with upper-case hex digits`() {
    #expect(PercentEncoding.component("a/b c\u{E9}~") == "a%2Fb%20c%C3%A9~")
    #expect(PercentEncoding.form([("a b", "1&2"), ("e", "")]) == "a+b=1%262&e=")
  }
}
