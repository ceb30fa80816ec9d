import RegentJSON
import Testing

/// Texts that the reader must refuse, with the reason and the offset.
struct RefusalTests {
  struct Refused: Sendable, CustomTestStringConvertible {
    let bytes: [UInt8]
    let problem: JSONError.Problem
    let offset: Int
    var testDescription: String { String(decoding: bytes, as: UTF8.self).debugDescription }

    init(_ text: String, _ problem: JSONError.Problem, _ offset: Int) {
      self.init(Array(text.utf8), problem, offset)
    }

    init(_ bytes: [UInt8], _ problem: JSONError.Problem, _ offset: Int) {
      self.bytes = bytes
      self.problem = problem
      self.offset = offset
    }

    /// A JSON string that contains these raw bytes.
    init(string: [UInt8], _ problem: JSONError.Problem, _ offset: Int) {
      self.init([0x22] + string + [0x22], problem, offset)
    }
  }

  static let structure = [
    Refused("", .ends(expected: "a value"), 0), Refused(" \n", .ends(expected: "a value"), 2),
    Refused("[", .ends(expected: "a value"), 1), Refused("[1", .ends(expected: "a comma or ]"), 2),
    Refused("[1,", .ends(expected: "a value"), 3),
    Refused("[1,]", .unexpected(expected: "a value"), 3),
    Refused("[,1]", .unexpected(expected: "a value"), 1),
    Refused("[1,,2]", .unexpected(expected: "a value"), 3),
    Refused("[1 2]", .unexpected(expected: "a comma or ]"), 3),
    Refused("[1}", .unexpected(expected: "a comma or ]"), 2),
    Refused("]", .unexpected(expected: "a value"), 0), Refused("[]]", .trailing, 2),
    Refused("{", .ends(expected: "a name in quotes"), 1),
    Refused("{\"a\"", .ends(expected: "a colon"), 4),
    Refused("{\"a\":", .ends(expected: "a value"), 5),
    Refused("{\"a\":1", .ends(expected: "a comma or }"), 6),
    Refused("{\"a\":1,}", .unexpected(expected: "a name in quotes"), 7),
    Refused("{,}", .unexpected(expected: "a name in quotes"), 1),
    Refused("{a:1}", .unexpected(expected: "a name in quotes"), 1),
    Refused("{'a':1}", .unexpected(expected: "a name in quotes"), 1),
    Refused("{1:1}", .unexpected(expected: "a name in quotes"), 1),
    Refused("{\"a\" 1}", .unexpected(expected: "a colon"), 5),
    Refused("{\"a\"::1}", .unexpected(expected: "a value"), 5),
    Refused("{\"a\":1 \"b\":2}", .unexpected(expected: "a comma or }"), 7),
    Refused("{\"a\":1]", .unexpected(expected: "a comma or }"), 6),
    Refused("1 2", .trailing, 2), Refused("null,", .trailing, 4), Refused("{}\0", .trailing, 2),
    Refused("null\u{A0}", .trailing, 4), Refused("//x\n1", .unexpected(expected: "a value"), 0),
    Refused("/**/1", .unexpected(expected: "a value"), 0),
    Refused("\u{0C}1", .unexpected(expected: "a value"), 0),
    Refused([0xEF, 0xBB, 0xBF] + Array("{}".utf8), .byteOrderMark, 0),
    Refused([0xFF, 0xFE, 0x22, 0x00], .unexpected(expected: "a value"), 0),
    Refused([0x00], .unexpected(expected: "a value"), 0),
  ]

  static let words = ["True", "nul", "nulL", "tru", "falsee", "undefined", "NaN", "Infinity"].map {
    $0 == "falsee"
      ? Refused($0, .trailing, 5) : Refused($0, .unexpected(expected: "a value"), 0)
  }

  static let duplicates = [
    Refused(#"{"a":1,"a":1}"#, .duplicateName, 7),
    Refused(#"{"a":1,"b":2,"\u0061":3}"#, .duplicateName, 13),
    Refused(#"{"":1,"":2}"#, .duplicateName, 6),
    Refused(#"[{"x":{"a":1,"a":1}}]"#, .duplicateName, 13),
  ]

  static let numbers = [
    Refused("01", .leadingZero, 0), Refused("-01", .leadingZero, 0), Refused("00", .leadingZero, 0),
    Refused("-", .ends(expected: "a digit"), 1), Refused("-a", .unexpected(expected: "a digit"), 1),
    Refused("--1", .unexpected(expected: "a digit"), 1),
    Refused("+1", .unexpected(expected: "a value"), 0),
    Refused(".5", .unexpected(expected: "a value"), 0),
    Refused("1.", .ends(expected: "a digit"), 2),
    Refused("1.e1", .unexpected(expected: "a digit"), 2),
    Refused("1e", .ends(expected: "a digit"), 2),
    Refused("1e+", .ends(expected: "a digit"), 3), Refused("1e1.5", .trailing, 3),
    Refused("1e1e1", .trailing, 3), Refused("0x1", .trailing, 1), Refused("1_0", .trailing, 1),
    Refused("-Infinity", .unexpected(expected: "a digit"), 1), Refused("1٣", .trailing, 1),
    Refused("1e999", .numberTooLarge, 0), Refused("[-1e400]", .numberTooLarge, 1),
    Refused(String(repeating: "9", count: 400), .numberTooLarge, 0),
    Refused("0." + String(repeating: "1", count: 1100), .numberTooLong(limit: 1024), 0),
  ]

  static let strings = [
    Refused("\"", .ends(expected: "a closing quote"), 1),
    Refused("\"a", .ends(expected: "a closing quote"), 2),
    Refused("\"\\", .ends(expected: "an escape"), 2),
    Refused("\"\\u00", .ends(expected: "a hex digit"), 5),
    Refused("\"\\\"", .ends(expected: "a closing quote"), 3),
    Refused("'a'", .unexpected(expected: "a value"), 0),
    Refused(#""\x41""#, .invalidEscape, 1), Refused(#""\a""#, .invalidEscape, 1),
    Refused(#""\U0041""#, .invalidEscape, 1), Refused(#""\u00g1""#, .invalidEscape, 1),
    Refused(#""\u 041""#, .invalidEscape, 1), Refused(#""\u+041""#, .invalidEscape, 1),
    Refused(#""a\ud800""#, .loneSurrogate, 2), Refused(#""\ud800a""#, .loneSurrogate, 1),
    Refused(#""\udc00""#, .loneSurrogate, 1), Refused(#""\ud800\ud800""#, .loneSurrogate, 1),
    Refused(#""\ud800\u0041""#, .loneSurrogate, 1), Refused(#""\ud800\n""#, .loneSurrogate, 1),
    Refused(#""\udc00\ud800""#, .loneSurrogate, 1), Refused(#""a\u0000b""#, .nul, 2),
    Refused("\"a\nb\"", .controlCharacter, 2), Refused("\"\t\"", .controlCharacter, 1),
    Refused("\"a\0b\"", .controlCharacter, 2), Refused("\"\\n\u{1F}\"", .controlCharacter, 3),
    Refused("[\"a\(String(repeating: "\u{301}", count: 31))\"]", .tooManyMarks, 2),
    Refused("\"\(String(repeating: "\\u0301", count: 31))\"", .tooManyMarks, 1),
    Refused("{\"\u{301}\\u0301\(String(repeating: "\u{327}", count: 29))\":1}", .tooManyMarks, 2),
  ]

  static let encodings = [
    Refused(string: [0xFF], .invalidUTF8, 1), Refused(string: [0x61, 0x80], .invalidUTF8, 2),
    Refused(string: [0xC0, 0x80], .invalidUTF8, 1), Refused(string: [0xC1, 0xBF], .invalidUTF8, 1),
    Refused(string: [0xC0, 0xAF], .invalidUTF8, 1),
    Refused(string: [0xE0, 0x80, 0xAF], .invalidUTF8, 1),
    Refused(string: [0xF0, 0x80, 0x80, 0xAF], .invalidUTF8, 1),
    Refused(string: [0xED, 0xA0, 0x80], .invalidUTF8, 1),
    Refused(string: [0xED, 0xBF, 0xBF], .invalidUTF8, 1),
    Refused(string: [0xF4, 0x90, 0x80, 0x80], .invalidUTF8, 1),
    Refused(string: [0xF8, 0x88, 0x80, 0x80, 0x80], .invalidUTF8, 1),
    Refused(string: [0xC3], .invalidUTF8, 1), Refused(string: [0xE2, 0x82], .invalidUTF8, 1),
    Refused(string: [0xC3, 0x5C, 0x6E], .invalidUTF8, 1),
    Refused(string: [0x5C, 0x6E, 0x80], .invalidUTF8, 3),
    Refused(Array("{\"".utf8) + [0xFE] + Array("\":1}".utf8), .invalidUTF8, 2),
  ]

  @Test(arguments: structure + words + duplicates + numbers + strings + encodings)
  func `the reader refuses invalid JSON with the reason and the offset`(_ refused: Refused) {
    #expect(throws: JSONError(refused.problem, at: refused.offset)) {
      try JSONValue(reading: refused.bytes)
    }
  }

  @Test(arguments: structure + duplicates + numbers + strings + encodings)
  func `an error message names the offset and never repeats the text`(_ refused: Refused) {
    let sentence = JSONError(refused.problem, at: refused.offset).description
    #expect(sentence.hasPrefix("not valid JSON at byte \(refused.offset): "))
    #expect(sentence.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F })
  }

  @Test func `every incomplete document is refused`() {
    let text = Array(#"{"a":[1,-2.5e+3,"x\u00e9\n",true,null,{"b":{}}],"c":"é"}"#.utf8)
    #expect(throws: Never.self) { try JSONValue(reading: text) }
    for length in 0..<text.count {
      #expect(throws: JSONError.self) { try JSONValue(reading: Array(text[..<length])) }
    }
  }
}
