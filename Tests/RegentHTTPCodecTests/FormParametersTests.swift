import RegentHTTPCodec
import Testing

@Suite struct FormParametersTests {
  @Test(
    arguments: [
      ("", []), ("a=1", [["a", "1"]]), ("a", [["a", ""]]), ("a=", [["a", ""]]),
      ("=1", [["", "1"]]), ("a=1&b=2", [["a", "1"], ["b", "2"]]), ("&&a=1&", [["a", "1"]]),
      ("a=b=c", [["a", "b=c"]]), ("a+b=c+d", [["a b", "c d"]]), ("a%3D=%26", [["a=", "&"]]),
      ("b=1&a=2&b=3", [["b", "1"], ["a", "2"], ["b", "3"]]),
      // A semicolon is no separator. Programs that split there would see other parameters than this parser.
      ("a=1;b=2", [["a", "1;b=2"]]), ("a%00x", nil), ("a=%", nil), ("a=%ff", nil),
    ] as [(String, [[String]]?)])
  func `form parameters are read in the order in which they were sent`(encoded: String, expected: [[String]]?) throws {
    guard let expected else {
      #expect(throws: FormError.self) { try form(encoded) }
      return
    }
    #expect(try form(encoded).all.map { [$0.name, $0.value] } == expected)
  }

  @Test func `absent, empty, single and repeated parameters are distinguished`() throws {
    let parameters = try form("once=1&empty=&twice=1&twice=1")
    #expect(parameters.occurrence(of: "absent") == .absent)
    #expect(parameters.occurrence(of: "empty") == .once(""))
    #expect(parameters.occurrence(of: "once") == .once("1"))
    #expect(parameters.occurrence(of: "twice") == .repeated(["1", "1"]))
    #expect(try parameters.single("absent") == nil)
    #expect(try parameters.single("empty")?.isEmpty == true)
    #expect(throws: FormError.repeated(name: "twice")) { try parameters.single("twice") }
    #expect(parameters.firstRepeatedName == "twice")
    #expect(try form("a=1&b=2").firstRepeatedName == nil)
  }

  @Test func `an escaped parameter name counts as a repetition of the plain name`() throws {
    #expect(try form("scope=1&%73cope=2").firstRepeatedName == "scope")
  }

  @Test func `a form with too many parameters or bytes is refused`() {
    let limits = FormParameters.Limits(parameters: 2, bytes: 10)
    #expect(throws: FormError.tooManyParameters(limit: 2)) { try form("a&b&c", limits) }
    #expect(throws: FormError.tooManyBytes(limit: 10)) { try form("a=123456789", limits) }
    #expect(throws: Never.self) { try form("a=1&&&&b=2", limits) }
  }

  @Test func `a name or value with many combining marks in a row is refused`() {
    // Comparing such texts would take a second.
    let marks = String(repeating: "\u{301}", count: 31)
    for part in [marks, String(repeating: "%CC%81", count: 31)] {
      for encoded in ["\(part)=1", "a=\(part)", "b=1&a=x\(part)"] {
        let fault = #expect(throws: FormError.self) { try form(encoded) }
        guard case .undecodable(let reason)? = fault else {
          Issue.record("expected a decoding fault")
          continue
        }
        #expect(reason.reason == .tooManyMarks)
      }
    }
    #expect(throws: Never.self) { try form("a=x" + String(repeating: "\u{301}", count: 30)) }
  }

  @Test func `a parameter with a long name is refused`() {
    #expect(throws: FormError.nameTooLong(limit: 128)) { try form(String(repeating: "n", count: 129) + "=1") }
    #expect(throws: FormError.nameTooLong(limit: 128)) { try form("a&" + String(repeating: "%C3%A9", count: 65)) }
    #expect(throws: Never.self) { try form(String(repeating: "n", count: 128) + "=1") }
  }

  @Test func `names are compared by their bytes`() throws {
    let parameters = try form("e%CC%81=1&%C3%A9=2")
    #expect(try parameters.single("\u{E9}") == "2")
    #expect(parameters.firstRepeatedName == nil)
  }

  @Test func `a decoding error reports its offset in the whole form`() {
    let fault = #expect(throws: FormError.self) { try form("a=1&b=%zz") }
    guard case .undecodable(let reason)? = fault else {
      Issue.record("expected a decoding fault")
      return
    }
    #expect(reason.offset == 6)
  }

  private func form(
    _ encoded: String, _ limits: FormParameters.Limits = .init()
  ) throws -> FormParameters {
    try FormParameters(encoded: Array(encoded.utf8).span, limits: limits)
  }
}
