import TestSupport
import RegentPairing
import Testing

@Suite struct `Registration codes` {
  @Test func `a drawn code has eight letters of the alphabet`() {
    var generator = SeededGenerator(state: 1)
    for _ in 0..<500 {
      let code = RegistrationCode(drawnFrom: &generator)
      #expect(code.wire.utf8.count == 8)
      #expect(code.wire.utf8.allSatisfy(RegistrationCode.alphabet.contains))
    }
  }

  @Test func `every letter is equally likely at every place`() {
    var generator = SeededGenerator(state: 2)
    var counts = [[Int]](repeating: [Int](repeating: 0, count: 20), count: 8)
    let draws = 20_000
    for _ in 0..<draws {
      for (place, letter) in RegistrationCode(drawnFrom: &generator).letters.enumerated() {
        counts[place][RegistrationCode.alphabet.firstIndex(of: letter) ?? 0] += 1
      }
    }
    // 1,000 expected, standard deviation 31: a deviation of five times that is no accident.
    #expect(counts.joined().allSatisfy { (845...1155).contains($0) })
  }

  @Test func `the forms of a code represent one number`() throws {
    let first = try #require(RegistrationCode(ordinal: 0))
    #expect(first.wire == "BBBBBBBB")
    #expect(first.display == "BBBB-BBBB")
    let last = try #require(RegistrationCode(ordinal: RegistrationCode.count - 1))
    #expect(last.wire == "ZZZZZZZZ")
    #expect(RegistrationCode(ordinal: RegistrationCode.count) == nil)
    #expect(try RegistrationCode(typed: "BBBBBBBC").ordinal == 1)
    #expect(try RegistrationCode(typed: "CBBBBBBB").ordinal == 1_280_000_000)
  }

  @Test func `a drawn code reads back from both of its forms`() throws {
    var generator = SeededGenerator(state: 3)
    for _ in 0..<200 {
      let code = RegistrationCode(drawnFrom: &generator)
      #expect(try RegistrationCode(typed: code.wire) == code)
      #expect(try RegistrationCode(typed: code.display) == code)
    }
  }

  @Test(arguments: [
    "BCDFGHJK", "bcdfghjk", "BCDF-GHJK", "bcdf ghjk", "  b c d f g h j k  ", "BCDF–GHJK",
    "BCDF—GHJK", "BCDF−GHJK", "BCDFーGHJK", "ＢＣＤＦ－ＧＨＪＫ", "ｂｃｄｆｇｈｊｋ", "BCDF.GHJK.",
    "BCDF\u{200B}GHJK", "\u{FEFF}BCDFGHJK\n", "BCDF\u{00AD}GHJK", "BCDF_GHJK", "BCDF\u{3000}GHJK",
    "\u{202A}BCDF-GHJK\u{202C}",
  ])
  func `typed codes may differ in case, spaces, dashes and character width`(typed: String) throws {
    #expect(try RegistrationCode(typed: typed).wire == "BCDFGHJK")
  }

  @Test(arguments: [
    ("", CodeInputError.empty), ("  - ", .empty), ("BCDF", .tooFewLetters(4)),
    ("BCDFGHJKL", .tooManyLetters), ("BCDFGHJ0", .neverInACode("0")),
    ("ACDFGHJK", .neverInACode("A")), ("yCDFGHJK", .neverInACode("y")),
    ("BCDFGHJé", .neverInACode("é")), ("ВCDFGHJK", .neverInACode("В")),
    ("BCDF\u{0}GHJK", .neverInACode("\u{0}")), ("BCDFGHJ８", .neverInACode("８")),
    (String(repeating: "-", count: 129), .tooManyLetters), ("IYQD5JQ", .neverInACode("I")),
  ])
  func `text that is not a code is refused with the reason`(typed: String, reason: CodeInputError) {
    #expect(throws: reason) { try RegistrationCode(typed: typed) }
  }

  @Test func `a code's description does not contain the code, so that it does not reach logs`() throws {
    let code = try RegistrationCode(typed: "BCDFGHJK")
    #expect(!"\(code)".contains("BCDF"))
  }

  @Test(arguments: [
    (1, true), (1800, true), (36_000, true), (0, false), (-1, false), (36_001, false),
    (Int.max, false), (Int.min, false),
  ])
  func `the lifetime of a code is between one second and ten hours`(seconds: Int, allowed: Bool) {
    #expect((CodeLifetime(asked: seconds) != nil) == allowed)
  }
}

@Suite struct Identifiers {
  @Test(arguments: ["REF30", "Comcast_SSO", "a.b-c", String(repeating: "x", count: 128)])
  func `plain identifiers have letters, digits, dots, dashes and underscores`(text: String) {
    #expect(RequestorID(text)?.text == text)
  }

  @Test(arguments: [
    "", "a b", "a/b", "é", "a\n", "a\"", "a=b", "a,b", String(repeating: "x", count: 129),
  ])
  func `an invalid identifier is refused, not shortened`(text: String) {
    #expect(RequestorID(text) == nil)
  }

  @Test(arguments: ["3f+/=", "living room", "Küche", "テレビ"])
  func `a device id may have spaces and letters of any script`(text: String) {
    #expect(DeviceID(text)?.text == text)
  }

  @Test(arguments: ["", "a\u{0}", "a\u{1B}[2J", "a\u{202E}b", "a\u{7F}", "a\u{85}b", "a\r\nb"])
  func `a device id or account name may not contain control or invisible formatting characters`(text: String) {
    #expect(DeviceID(text) == nil)
    #expect(AccountName(text) == nil)
  }

  @Test func `a resource may be an XML fragment with line ends`() {
    #expect(ResourceID("<rss>\r\n\t<channel/></rss>") != nil)
    #expect(ResourceID("a\u{0}") == nil)
    #expect(ResourceID(String(repeating: "x", count: 8193)) == nil)
  }
}

@Suite struct `Instants and durations` {
  @Test func `sums of times saturate instead of overflowing`() {
    let late = Instant(milliseconds: .max - 5)
    #expect(late + .seconds(1) == Instant(milliseconds: .max))
    #expect(Instant(milliseconds: .min + 5) - .seconds(1) == Instant(milliseconds: .min))
    #expect(late - .seconds(-1) == Instant(milliseconds: .max))
    #expect(Instant(milliseconds: 5) + .seconds(Int64.max) == Instant(milliseconds: .max))
    #expect(late.since(Instant(milliseconds: -10)) > .seconds(1))
    #expect(Instant(milliseconds: -10).since(late) < .seconds(-1))
  }

  @Test func `a duration is truncated to whole milliseconds`() {
    #expect(Duration.microseconds(1999).wholeMilliseconds == 1)
    #expect(Duration.seconds(-2).wholeMilliseconds == -2000)
    #expect((Instant(milliseconds: 1500) + .milliseconds(250)).milliseconds == 1750)
    #expect(Instant(milliseconds: 1500).since(Instant(milliseconds: 2000)) == .milliseconds(-500))
  }
}
