import RegentJSON
import Testing

/// Texts that the reader must accept, with their values.
struct ReadingTests {
  struct Accepted: Sendable, CustomTestStringConvertible {
    let text: String
    let value: JSONValue
    var testDescription: String { text.debugDescription }

    init(_ text: String, _ value: JSONValue) {
      self.text = text
      self.value = value
    }
  }

  static let words = [
    Accepted("null", nil), Accepted("true", true), Accepted("false", false),
    Accepted(" \t\r\n null \n", nil), Accepted("[ ]", []), Accepted("{ }", [:]),
    Accepted("[true , false,null ]", [true, false, nil]), Accepted("[[],[[]]]", [[], [[]]]),
    Accepted(#"{"a":1, "b" : [ 2 ] }"#, ["a": 1, "b": [2]]),
    Accepted(#"{"":0}"#, ["": 0]), Accepted(#"{"a":{"a":{"a":null}}}"#, ["a": ["a": ["a": nil]]]),
    Accepted(#"{"a":1,"A":2}"#, ["a": 1, "A": 2]),
  ]

  static let numbers = [
    Accepted("0", 0), Accepted("7", 7), Accepted("-1", -1), Accepted("10", 10),
    Accepted("9223372036854775807", .integer(.max)),
    Accepted("-9223372036854775808", .integer(.min)),
    Accepted("9223372036854775808", .unsigned(1 << 63)),
    Accepted("18446744073709551615", .unsigned(.max)),
    Accepted("18446744073709551616", .double(18_446_744_073_709_551_616)),
    Accepted("-9223372036854775809", .double(-9_223_372_036_854_775_808)),
    Accepted("100000000000000000000", .double(1e20)),
    Accepted("-0", .double(-0.0)), Accepted("-0.0", .double(-0.0)),
    Accepted("0.5", .double(0.5)), Accepted("1.0", .double(1)), Accepted("1e2", .double(100)),
    Accepted("1E+2", .double(100)), Accepted("1e-2", .double(0.01)),
    Accepted("0e1", .double(0)), Accepted("0.1", .double(0.1)), Accepted("-2.5e3", .double(-2500)),
    Accepted("1.7976931348623157e308", .double(.greatestFiniteMagnitude)),
    Accepted("5e-324", .double(.leastNonzeroMagnitude)), Accepted("1e-999", .double(0)),
    Accepted("123456789.123456789e-3", .double(123456.789123456789)),
  ]

  static let strings = [
    Accepted(#""""#, ""), Accepted(#""a b""#, "a b"),
    Accepted(#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{08}\u{0C}\n\r\t"),
    Accepted(#""\u0041\u00e9\u00E9\uFFFF""#, "Aéé\u{FFFF}"),
    Accepted(#""\ud83d\ude00""#, "😀"), Accepted(#""\uD834\uDD1E""#, "\u{1D11E}"),
    Accepted(#""\udbff\udfff""#, "\u{10FFFF}"), Accepted(#""\\u0041""#, #"\u0041"#),
    Accepted(#""é😀한""#, "é😀한"), Accepted(#""é\né""#, "é\né"),
    Accepted("\"\u{2028}\u{2029}\u{7F}\u{85}\"", "\u{2028}\u{2029}\u{7F}\u{85}"),
    Accepted(#""\u0001""#, "\u{01}"),
  ]

  @Test(arguments: words + numbers + strings)
  func `the reader accepts everything that RFC 8259 allows`(_ accepted: Accepted) throws {
    let value = try JSONValue(reading: accepted.text)
    #expect(value == accepted.value)
    #expect(value.double?.sign == accepted.value.double?.sign)
  }

  @Test(arguments: words + numbers + strings, [JSONWriter.Style.compact, .pretty])
  func `a written value is read back as the same value`(_ accepted: Accepted, style: JSONWriter.Style) throws {
    let value = try JSONValue(reading: accepted.text)
    let again = try JSONValue(reading: value.bytes(style))
    #expect(again == value)
    #expect(again.double?.sign == value.double?.sign)
  }

  @Test func `members keep their order`() throws {
    let value = try JSONValue(reading: #"{"z":1,"a":2,"m":3}"#)
    #expect(value.object?.members.map(\.name) == ["z", "a", "m"])
    #expect(value.description == #"{"z":1,"a":2,"m":3}"#)
  }

  @Test func `names and strings are compared as bytes and not as Unicode text`() throws {
    // Swift compares U+212A KELVIN SIGN and K as equal.
    let value = try JSONValue(reading: "{\"\u{212A}\":1,\"K\":2,\"e\u{301}\":3,\"é\":4}")
    #expect(value.object?.count == 4)
    #expect(value["K"] == 2)
    #expect(value["é"] == 4)
    #expect(JSONValue.string("\u{212A}") != JSONValue.string("K"))
    let many = (0..<40).map { "\"n\($0)\":0" }.joined(separator: ",")
    #expect(throws: Never.self) { try JSONValue(reading: "{\(many),\"\u{212A}\":1,\"K\":2}") }
  }

  @Test func `a number can be read as every integer type that holds it exactly`() throws {
    let cases: [(String, Int64?, UInt64?)] = [
      ("100", 100, 100), ("1e2", 100, 100), ("100.5", nil, nil), ("-1", -1, nil),
      ("18446744073709551615", nil, .max), ("9223372036854775807", .max, UInt64(Int64.max)),
      ("1e300", nil, nil), (#""1""#, nil, nil),
    ]
    for (text, int64, uint64) in cases {
      let value = try JSONValue(reading: text)
      #expect(value.int64 == int64, "\(text)")
      #expect(value.uint64 == uint64, "\(text)")
    }
  }

  @Test func `the limits on depth and size are exact`() throws {
    let open = String(repeating: "[", count: 32)
    let close = String(repeating: "]", count: 32)
    #expect(throws: Never.self) { try JSONValue(reading: open + close) }
    #expect(throws: JSONError(.tooDeep(limit: 32), at: 32)) {
      try JSONValue(reading: "[" + open + close + "]")
    }
    #expect(throws: JSONError(.tooDeep(limit: 1), at: 5)) {
      try JSONValue(reading: #"{"a":[]}"#, limits: JSONLimits(depth: 1))
    }
    #expect(throws: Never.self) { try JSONValue(reading: "[1,2]", limits: JSONLimits(bytes: 5)) }
    #expect(throws: JSONError(.tooLong(limit: 5), at: 5)) {
      try JSONValue(reading: "[1,2] ", limits: JSONLimits(bytes: 5))
    }
    let nul = try JSONValue(reading: #""a\u0000b""#, limits: JSONLimits(allowsNUL: true))
    #expect(nul == "a\0b")
  }

  @Test(arguments: ["[", #"{"a":"#, #"[{"a":"#, "[[],"])
  func `a hundred thousand open levels are refused without a stack overflow`(level: String) {
    let text = String(repeating: level, count: 100_000)
    #expect(throws: JSONError.self) {
      try JSONValue(reading: text, limits: JSONLimits(depth: .max, bytes: .max))
    }
  }

  @Test func `a value of the greatest allowed depth can be read, compared, written and released`() throws {
    let depth = JSONLimits.deepest
    let text =
      String(repeating: #"{"a":["#, count: depth / 2) + String(repeating: "]}", count: depth / 2)
    let value = try JSONValue(reading: text, limits: JSONLimits(depth: .max))
    #expect(value.description == text)
    #expect(try value == JSONValue(reading: value.bytes(.pretty), limits: JSONLimits(depth: .max)))
  }

  @Test func `an object with 50,000 members is read quickly, duplicates included`() throws {
    let members = (0..<50_000).map { "\"member\($0)\":\($0)" }.joined(separator: ",")
    let value = try JSONValue(reading: "{\(members)}", limits: JSONLimits(bytes: 1 << 24))
    #expect(value.object?.count == 50_000)
    #expect(throws: JSONError.self) {
      try JSONValue(reading: "{\(members),\"member7\":0}", limits: JSONLimits(bytes: 1 << 24))
    }
  }
}
