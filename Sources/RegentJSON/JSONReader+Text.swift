// The part of the reader for strings and numbers.

internal import RegentEncodings

extension JSONReader {
  /// Reads the rest of a string, after its opening quote.
  mutating func string(_ input: Span<UInt8>) throws(JSONError) -> String {
    let start = at
    while at < input.count {
      let byte = input[at]
      if byte == Byte.quote {
        let string = try checked(utf8(input, start..<at), at: start)
        at += 1
        return string
      }
      if byte == Byte.backslash { return try escapedString(input, from: start) }
      guard byte >= 0x20 else { throw JSONError(.controlCharacter, at: at) }
      at += 1
    }
    throw JSONError(.ends(expected: "a closing quote"), at: at)
  }

  /// Reads the rest of a string that has escapes: copies the text between escapes, and decodes the escapes.
  private mutating func escapedString(
    _ input: Span<UInt8>, from start: Int
  ) throws(JSONError) -> String {
    var string = ""
    var run = start
    while at < input.count {
      let byte = input[at]
      if byte == Byte.quote {
        string += try utf8(input, run..<at)
        at += 1
        return try checked(string, at: start)
      }
      guard byte >= 0x20 else { throw JSONError(.controlCharacter, at: at) }
      if byte == Byte.backslash {
        // Each piece between escapes must be valid UTF-8 on its own: no character begins before an escape and ends
        // after it.
        string += try utf8(input, run..<at)
        string.unicodeScalars.append(try escape(input))
        run = at
      } else {
        at += 1
      }
    }
    throw JSONError(.ends(expected: "a closing quote"), at: at)
  }

  /// Refuses a string that would take long to compare.
  private func checked(_ string: String, at offset: Int) throws(JSONError) -> String {
    guard limits.allowsManyMarks || !string.hasTooManyMarks else { throw JSONError(.tooManyMarks, at: offset) }
    return string
  }

  private func utf8(_ input: Span<UInt8>, _ range: Range<Int>) throws(JSONError) -> String {
    do throws(UTF8.ValidationError) {
      return String(copying: try UTF8Span(validating: input.extracting(range)))
    } catch {
      throw JSONError(.invalidUTF8, at: range.lowerBound + error.byteOffsets.lowerBound)
    }
  }

  /// Decodes the escape sequence at the current position, which is a backslash.
  private mutating func escape(_ input: Span<UInt8>) throws(JSONError) -> Unicode.Scalar {
    let start = at
    at += 1
    guard at < input.count else { throw JSONError(.ends(expected: "an escape"), at: at) }
    let kind = input[at]
    at += 1
    switch kind {
    case Byte.quote: return "\""
    case Byte.backslash: return "\\"
    case UInt8(ascii: "/"): return "/"
    case UInt8(ascii: "b"): return "\u{08}"
    case UInt8(ascii: "f"): return "\u{0C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try unicode(input, start)
    default: throw JSONError(.invalidEscape, at: start)
    }
  }

  /// Reads the four digits after `\u` and, if they are the first half of a surrogate pair, the second half.
  private mutating func unicode(
    _ input: Span<UInt8>, _ start: Int
  ) throws(JSONError) -> Unicode.Scalar {
    let first = try fourHex(input, start)
    if first == 0, !limits.allowsNUL { throw JSONError(.nul, at: start) }
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard first < 0xDC00, next(input) == Byte.backslash, at + 1 < input.count,
      input[at + 1] == UInt8(ascii: "u")
    else { throw JSONError(.loneSurrogate, at: start) }
    at += 2
    let second = try fourHex(input, start)
    guard (0xDC00...0xDFFF).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { throw JSONError(.loneSurrogate, at: start) }
    return scalar
  }

  private mutating func fourHex(
    _ input: Span<UInt8>, _ start: Int
  ) throws(JSONError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard at < input.count else { throw JSONError(.ends(expected: "a hex digit"), at: at) }
      let byte = input[at]
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt32(byte - 0x30)
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt32(byte - 0x57)
      case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | UInt32(byte - 0x37)
      default: throw JSONError(.invalidEscape, at: start)
      }
      at += 1
    }
    return value
  }
}

extension JSONReader {
  /// The maximum length of a number in characters.
  ///
  /// Longer numbers have no use and would only cost time.
  private static let longestNumber = 1024

  /// Reads the number at the current position.
  mutating func number(_ input: Span<UInt8>) throws(JSONError) -> JSONValue {
    let start = at
    let negative = input[at] == UInt8(ascii: "-")
    if negative { at += 1 }
    let whole = try digits(input)
    if whole.count > 1, input[whole.lowerBound] == UInt8(ascii: "0") {
      throw JSONError(.leadingZero, at: start)
    }
    var isInteger = true
    if next(input) == UInt8(ascii: ".") {
      isInteger = false
      at += 1
      _ = try digits(input)
    }
    if let mark = next(input), mark | 0x20 == UInt8(ascii: "e") {
      isInteger = false
      at += 1
      if let sign = next(input), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { at += 1 }
      _ = try digits(input)
    }
    guard at - start <= JSONReader.longestNumber else {
      throw JSONError(.numberTooLong(limit: JSONReader.longestNumber), at: start)
    }
    if isInteger, let exact = exact(input, whole, negative: negative) { return exact }
    guard let double = Double(try utf8(input, start..<at)), double.isFinite else {
      throw JSONError(.numberTooLarge, at: start)
    }
    return .double(double)
  }

  /// Skips one or more digits and returns their range.
  private mutating func digits(_ input: Span<UInt8>) throws(JSONError) -> Range<Int> {
    let start = at
    while at < input.count, input[at] &- 0x30 < 10 { at += 1 }
    guard at > start else {
      throw at < input.count
        ? JSONError(.unexpected(expected: "a digit"), at: at)
        : JSONError(.ends(expected: "a digit"), at: at)
    }
    return start..<at
  }

  /// The digits as an exact integer.
  ///
  /// Returns nil if they do not fit 64 bits, and for -0, which only a double can represent.
  private func exact(
    _ input: Span<UInt8>, _ digits: Range<Int>, negative: Bool
  ) -> JSONValue? {
    guard digits.count <= 20 else { return nil }
    var magnitude: UInt64 = 0
    for place in digits {
      let (tens, overflow) = magnitude.multipliedReportingOverflow(by: 10)
      let (sum, carry) = tens.addingReportingOverflow(UInt64(input[place] - 0x30))
      if overflow || carry { return nil }
      magnitude = sum
    }
    guard negative else { return JSONValue(magnitude) }
    guard magnitude > 0, magnitude <= Int64.min.magnitude else { return nil }
    return .integer(Int64(truncatingIfNeeded: 0 &- magnitude))
  }
}
