import RegentEncodings
import Testing

@Suite struct CombiningMarksTests {
  private static let acute = "\u{301}"
  private static let cedilla = "\u{327}"

  @Test(arguments: [acute, cedilla, "\u{344}", "\u{3099}", "\u{93C}", "\u{F73}", "\u{F75}", "\u{F81}", "\u{1D165}"])
  func `thirty marks in a row are accepted and one more is not`(mark: String) {
    let most = String(repeating: mark, count: CombiningMarks.longestRun)
    #expect(!most.hasTooManyMarks)
    #expect(!("a" + most + "b" + most).hasTooManyMarks)
    #expect((most + mark).hasTooManyMarks)
    #expect(("ab" + most + mark + "c").hasTooManyMarks)
  }

  @Test(arguments: ["", "plain", "Zoë", "한국어", "ภาษาไทย", "हिन्दी में", "שָׁלוֹם", "👩‍👩‍👧‍👦", "e\u{301}\u{327}"])
  func `texts of languages are accepted, however long they are`(text: String) {
    #expect(!String(repeating: text, count: 2_000).hasTooManyMarks)
  }

  @Test func `a run of marks is counted over the parts of a text`() {
    let half = String(repeating: Self.acute, count: 20)
    #expect(exceeds([half, "", half]) == [false, false, true])
    #expect(exceeds([half, "a", half]) == [false, false, false])
    #expect(exceeds([half, "\u{E9}", half]) == [false, false, false])
  }

  private func exceeds(_ parts: [String]) -> [Bool] {
    var marks = CombiningMarks()
    return parts.map { part in marks.exceedLimit(after: part.utf8Span) }
  }

  @Test func `every character with a combining class is counted`() {
    for value in 0...0x10FFFF as ClosedRange<UInt32> {
      guard let scalar = Unicode.Scalar(value), scalar.properties.canonicalCombiningClass != .notReordered
      else { continue }
      let text = String(String.UnicodeScalarView(repeating: scalar, count: CombiningMarks.longestRun + 1))
      #expect(text.hasTooManyMarks, "U+\(String(value, radix: 16))")
    }
  }

  @Test(arguments: [
    ("a", "a", true), ("", "", true), ("a", "b", false), ("é", "e\u{301}", false), ("K", "\u{212A}", false),
  ])
  func `texts are compared by their bytes`(one: String, other: String, isSame: Bool) {
    #expect(one.hasSameBytes(as: other) == isSame)
    let long = String(repeating: "x", count: 40)
    #expect((long + one).hasSameBytes(as: long + other) == isSame)
  }
}
