import RegentPairing
import Testing

@Suite struct `The secret in a verification link` {
  @Test func `the link secret is the first forty bits in base 32`() {
    #expect(LinkSecret([0, 0, 0, 0, 31])?.text == "0000000Z")
    #expect(LinkSecret([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1])?.text == "ZZZZZZZZ")
    #expect(LinkSecret([0x08, 0x42, 0x10, 0x84, 0x21])?.text == "11111111")
    #expect(LinkSecret([1, 2, 3, 4]) == nil)
  }

  @Test(arguments: [
    ("BCDFGHJK.0123ABCD", "0123ABCD"), ("bcdf-ghjk.0123abcd", "0123ABCD"), ("BCDFGHJK", nil), ("BCDFGHJK.", nil),
    ("BCDFGHJK.0123ABC", nil), ("BCDFGHJK.0123ABCDE", nil), ("BCDFGHJK.0123ABCU", nil), ("BCDFGHJK.0123.BCD", nil),
  ])
  func `a link secret is read in any case, and invalid ones are ignored`(text: String, secret: String?) throws {
    let read = try ScannedCode(typed: text)
    #expect(read.code.wire == "BCDFGHJK")
    #expect(read.secret?.text == secret)
    #expect(read.text == "BCDFGHJK" + (secret.map { ".\($0)" } ?? ""))
  }

  @Test(arguments: ["", ".0123ABCD", "BCDFGHJ.0123ABCD", "BCDFGHJKL.0123ABCD"])
  func `a link whose code is invalid is refused`(text: String) {
    #expect(throws: CodeInputError.self) { try ScannedCode(typed: text) }
  }
}
