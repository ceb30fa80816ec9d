// A parser for the grammar of RFC 8259 on a span of bytes. It is recursive, but never deeper than the limit: a text of
// 100,000 opening brackets costs 32 stack frames and ends with an error.

internal import RegentEncodings

extension JSONValue {
  /// Reads all of `bytes` as one value.
  public init(
    reading bytes: Span<UInt8>, limits: JSONLimits = .standard
  ) throws(JSONError) {
    var reader = JSONReader(limits: limits)
    self = try reader.document(bytes)
  }

  /// Reads all of `bytes` as one value.
  public init(reading bytes: [UInt8], limits: JSONLimits = .standard) throws(JSONError) {
    try self.init(reading: bytes.span, limits: limits)
  }

  /// Reads all of `text` as one value.
  public init(reading text: String, limits: JSONLimits = .standard) throws(JSONError) {
    try self.init(reading: text.utf8.span, limits: limits)
  }
}

/// The state of the parser.
///
/// The text itself is passed to each function as a span.
struct JSONReader {
  let limits: JSONLimits
  var at = 0

  init(limits: JSONLimits) {
    self.limits = limits
  }

  mutating func document(_ input: Span<UInt8>) throws(JSONError) -> JSONValue {
    guard input.count <= limits.bytes else {
      throw JSONError(.tooLong(limit: limits.bytes), at: limits.bytes)
    }
    if input.count >= 3, input[0] == 0xEF, input[1] == 0xBB, input[2] == 0xBF {
      throw JSONError(.byteOrderMark, at: 0)
    }
    skipSpace(input)
    let value = try value(input, open: 0)
    skipSpace(input)
    guard at == input.count else { throw JSONError(.trailing, at: at) }
    return value
  }

  /// Reads the value at the current position; `open` is the number of arrays and objects around it.
  private mutating func value(
    _ input: Span<UInt8>, open: Int
  ) throws(JSONError) -> JSONValue {
    guard at < input.count else { throw JSONError(.ends(expected: "a value"), at: at) }
    switch input[at] {
    case Byte.quote:
      at += 1
      return .string(try string(input))
    case Byte.openBrace:
      try checkDepth(open)
      at += 1
      return .object(try members(input, open: open + 1))
    case Byte.openBracket:
      try checkDepth(open)
      at += 1
      return .array(try elements(input, open: open + 1))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      return try number(input)
    case UInt8(ascii: "t"): return try word("true", .bool(true), input)
    case UInt8(ascii: "f"): return try word("false", .bool(false), input)
    case UInt8(ascii: "n"): return try word("null", .null, input)
    default: throw JSONError(.unexpected(expected: "a value"), at: at)
    }
  }

  private func checkDepth(_ open: Int) throws(JSONError) {
    guard open < limits.depth else { throw JSONError(.tooDeep(limit: limits.depth), at: at) }
  }

  /// Reads the rest of an array, after its opening bracket.
  private mutating func elements(
    _ input: Span<UInt8>, open: Int
  ) throws(JSONError) -> [JSONValue] {
    var elements: [JSONValue] = []
    skipSpace(input)
    if next(input) == Byte.closeBracket {
      at += 1
      return elements
    }
    while true {
      elements.append(try value(input, open: open))
      if try !another(input, unless: Byte.closeBracket, expected: "a comma or ]") {
        return elements
      }
    }
  }

  /// Reads the rest of an object, after its opening brace.
  private mutating func members(
    _ input: Span<UInt8>, open: Int
  ) throws(JSONError) -> JSONObject {
    var members: [JSONObject.Member] = []
    var seen = SeenNames()
    skipSpace(input)
    if next(input) == Byte.closeBrace {
      at += 1
      return JSONObject()
    }
    while true {
      let start = at
      try expect(Byte.quote, input, "a name in quotes")
      let name = try string(input)
      guard seen.isNew(name, among: members) else { throw JSONError(.duplicateName, at: start) }
      skipSpace(input)
      try expect(UInt8(ascii: ":"), input, "a colon")
      skipSpace(input)
      members.append(JSONObject.Member(name, try value(input, open: open)))
      if try !another(input, unless: Byte.closeBrace, expected: "a comma or }") {
        return JSONObject(unique: members)
      }
    }
  }

  /// Reads the character after an element or member.
  ///
  /// Returns true for a comma, false for the closing bracket or brace.
  private mutating func another(
    _ input: Span<UInt8>, unless close: UInt8, expected: String
  ) throws(JSONError) -> Bool {
    skipSpace(input)
    if next(input) == close {
      at += 1
      return false
    }
    try expect(UInt8(ascii: ","), input, expected)
    skipSpace(input)
    return true
  }

  private mutating func word(
    _ word: StaticString, _ value: JSONValue, _ input: Span<UInt8>
  ) throws(JSONError) -> JSONValue {
    let start = at
    for letter in word.description.utf8 {
      guard next(input) == letter else {
        throw JSONError(.unexpected(expected: "a value"), at: start)
      }
      at += 1
    }
    return value
  }

  mutating func expect(
    _ byte: UInt8, _ input: Span<UInt8>, _ expected: String
  ) throws(JSONError) {
    guard at < input.count else { throw JSONError(.ends(expected: expected), at: at) }
    guard input[at] == byte else { throw JSONError(.unexpected(expected: expected), at: at) }
    at += 1
  }

  func next(_ input: Span<UInt8>) -> UInt8? {
    at < input.count ? input[at] : nil
  }

  private mutating func skipSpace(_ input: Span<UInt8>) {
    while at < input.count {
      switch input[at] {
      case 0x20, 0x09, 0x0A, 0x0D: at += 1
      default: return
      }
    }
  }
}

enum Byte {
  static let quote = UInt8(ascii: "\"")
  static let backslash = UInt8(ascii: "\\")
  static let openBrace = UInt8(ascii: "{")
  static let closeBrace = UInt8(ascii: "}")
  static let openBracket = UInt8(ascii: "[")
  static let closeBracket = UInt8(ascii: "]")
}

/// Finds repeated names in an object.
///
/// While there are few members, it searches them; for more, it uses a set. Otherwise an object of 100,000 members would
/// cost 10¹⁰ comparisons.
private struct SeenNames {
  private var set: Set<ExactName> = []
  private static let short = 16

  mutating func isNew(_ name: String, among members: [JSONObject.Member]) -> Bool {
    if members.count < SeenNames.short {
      return !members.contains { $0.name.hasSameBytes(as: name) }
    }
    if set.isEmpty { set = Set(members.map { ExactName(name: $0.name) }) }
    return set.insert(ExactName(name: name)).inserted
  }

  /// A name that is hashed and compared by its bytes.
  ///
  /// String's own hash is the same for all canonically equivalent spellings, so an attacker could put many different
  /// names into one hash bucket, which makes look-ups slow.
  private struct ExactName: Hashable {
    let name: String

    static func == (one: ExactName, other: ExactName) -> Bool { one.name.hasSameBytes(as: other.name) }

    func hash(into hasher: inout Hasher) {
      var word: UInt64 = 1
      for byte in name.utf8 {
        word = word << 8 | UInt64(byte)
        if word >> 56 != 0 {
          hasher.combine(word)
          word = 1
        }
      }
      hasher.combine(word)
    }
  }
}
