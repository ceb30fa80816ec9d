import RegentJSON
import Testing

struct WritingTests {
  static let escapes: [(String, String, String)] = [
    ("plain", #""plain""#, #""plain""#),
    ("\"\\/", #""\"\\/""#, #""\"\\/""#),
    ("\u{08}\t\n\u{0C}\r", #""\b\t\n\f\r""#, #""\b\t\n\f\r""#),
    ("\u{00}\u{1F}\u{7F}", #""\u0000\u001f\u007f""#, #""\u0000\u001f\u007f""#),
    (
      "\u{80}\u{9B}\u{9F}\u{A0}", "\"\\u0080\\u009b\\u009f\u{A0}\"",
      "\"\\u0080\\u009b\\u009f\u{A0}\""
    ),
    (
      "\u{2027}\u{2028}\u{2029}\u{202A}", "\"\u{2027}\\u2028\\u2029\u{202A}\"",
      "\"\u{2027}\\u2028\\u2029\u{202A}\""
    ),
    ("é€😀한\u{FFFF}", "\"é€😀한\u{FFFF}\"", "\"é€😀한\u{FFFF}\""),
    ("</script>&amp;", #""</script>&amp;""#, #""\u003c/script\u003e\u0026amp;""#),
    ("", #""""#, #""""#),
  ]

  @Test(arguments: escapes)
  func `the writer escapes the characters that must not appear in a string or in HTML`(
    text: String, plain: String, html: String
  ) {
    #expect(JSONValue.string(text).description == plain)
    let bytes = JSONValue.string(text).bytes(JSONWriter.Style(isHTMLSafe: true))
    #expect(String(decoding: bytes, as: UTF8.self) == html)
  }

  @Test func `a character is escaped alike at every position of a long string`() {
    for style in [JSONWriter.Style.compact, JSONWriter.Style(isHTMLSafe: true)] {
      for scalar in (UInt32(0)...0xFF).map({ Unicode.Scalar($0) }) + ["\u{2028}", "\u{202A}"] {
        guard let scalar else { continue }
        let alone = written(String(scalar), style).dropFirst().dropLast()
        for place in 0...17 {
          let (before, after) = (String(repeating: "a", count: place), String(repeating: "~", count: 17 - place))
          #expect(written("\(before)\(scalar)\(after)", style) == "\"\(before)\(alone)\(after)\"")
        }
      }
    }
  }

  private func written(_ text: String, _ style: JSONWriter.Style) -> String {
    String(decoding: JSONValue.string(text).bytes(style), as: UTF8.self)
  }

  @Test func `every Unicode scalar up to U+10FFF is read back unchanged`() throws {
    for value in stride(from: UInt32(1), to: 0x11000, by: 1) {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let string = JSONValue.string("a\(scalar)b")
      let back = try JSONValue(reading: string.bytes(JSONWriter.Style(isHTMLSafe: value % 2 == 0)))
      #expect(back == string)
    }
  }

  static let integers: [Int64] = [0, 1, 9, 10, 99, 100, -1, -10, .max, .min, 1_700_000_000_000]
  @Test(arguments: integers)
  func `whole numbers are written exactly`(_ number: Int64) {
    #expect(JSONValue.integer(number).description == "\(number)")
  }

  @Test func `unsigned numbers are written exactly`() {
    #expect(JSONValue(UInt64.max).description == "18446744073709551615")
    #expect(JSONValue(UInt64(5)) == 5)
    #expect(JSONWriter.bytes { $0.value(UInt64.max) } == Array("18446744073709551615".utf8))
  }

  @Test func `a double is read back with the same bits`() throws {
    var random = SystemRandomNumberGenerator()
    let special: [Double] = [
      0, -0.0, 0.1, 1.0 / 3, 1e21, 1e-7, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .pi,
    ]
    let others = (0..<5_000).map { _ in Double(bitPattern: .random(in: 0 ... .max, using: &random))
    }
    for number in special + others where number.isFinite {
      let back = try JSONValue(reading: JSONValue.double(number).bytes())
      #expect(back.double?.bitPattern == number.bitPattern, "\(number)")
    }
  }

  @Test(arguments: [Double.infinity, -.infinity, .nan])
  func `infinity and NaN are written as null`(_ number: Double) {
    #expect(JSONValue.double(number).description == "null")
  }

  @Test func `pretty-printed text has a stable form`() {
    let value: JSONValue = [
      "name": "box", "empty": [:], "none": [], "list": [1, ["a": nil], [true]], "last": 2.5,
    ]
    let text = String(decoding: value.bytes(.pretty), as: UTF8.self)
    #expect(
      text == """
        {
          "name": "box",
          "empty": {},
          "none": [],
          "list": [
            1,
            {
              "a": null
            },
            [
              true
            ]
          ],
          "last": 2.5
        }
        """)
  }

  @Test func `the streaming writer writes the same text as the value tree`() throws {
    let tree: JSONValue = [
      "code": "BCDFGHJK", "expires": 1_700_000_000_000, "big": JSONValue(UInt64.max), "ratio": 0.5,
      "ok": true, "none": nil, "info": ["a\n": "é"], "list": [1, "x", nil, false, [], [:]],
      "tree": [1],
      "ready": ["a": [1, 2]],
    ]
    let written = JSONWriter.bytes { json in
      json.object { json in
        json.member("code", "BCDFGHJK")
        json.member("expires", Int64(1_700_000_000_000))
        json.member("big", UInt64.max)
        json.member("ratio", 0.5)
        json.member("ok", true)
        json.null("none")
        json.object("info") { $0.member("a\n", "é") }
        json.array("list") { json in
          json.value(1)
          json.value("x")
          json.null()
          json.value(false)
          json.array { _ in }
          json.object { _ in }
        }
        json.member("tree", [1])
        json.name("ready")
        json.value(prebuilt: Array(#"{"a":[1,2]}"#.utf8))
      }
    }
    #expect(written == tree.bytes())
  }

  @Test func `a writer can append to existing bytes`() {
    var writer = JSONWriter(appendingTo: Array("data: ".utf8))
    writer.value([1, 2])
    #expect(String(decoding: writer.bytes, as: UTF8.self) == "data: [1,2]")
  }
}
