internal import RegentEncodings

/// Why percent-encoded bytes were refused.
public struct PercentDecodingError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Reason: Hashable, Sendable {
    case brokenEscape
    case zeroByte
    case notUTF8
    /// The text has more combining marks in a row than `CombiningMarks` allows.
    case tooManyMarks
  }

  public let reason: Reason

  /// The offset of the error in the encoded bytes.
  public let offset: Int

  /// A sentence about the error that is safe to show, because it contains no part of the input.
  public var description: String {
    switch reason {
    case .brokenEscape:
      "a percent sign at byte \(offset) is not followed by two hexadecimal digits: write it as %25"
    case .zeroByte:
      "a zero byte at byte \(offset) is not allowed in text: leave it out"
    case .notUTF8:
      "the text is not UTF-8 from byte \(offset) on: encode it as UTF-8 first"
    case .tooManyMarks:
      "the text from byte \(offset) on has more than \(CombiningMarks.longestRun) combining marks in a row: leave them out"
    }
  }
}

/// Strict percent-decoding (RFC 3986 §2.1); decode each text exactly once.
///
/// Servers that repair a broken escape, decode twice or stop at `%00` interpret a path differently from the proxy in
/// front of them, which lets attackers bypass path filters. Therefore this decoder refuses every deviation.
public enum PercentDecoding {
  /// How a plus sign is decoded: as a plus sign in paths, as a space in forms and queries.
  public enum PlusSign: Sendable {
    case plus
    case space
  }

  /// Decodes percent-encoded bytes to text.
  ///
  /// - Throws: `PercentDecodingError` for a broken escape, a zero byte (raw or escaped), invalid UTF-8 and too many
  ///   combining marks in a row.
  public static func text(
    _ raw: Span<UInt8>, plusSign: PlusSign = .plus
  ) throws(PercentDecodingError) -> String {
    if isPlain(raw, plusSign) { return try validated(raw) }
    let decoded = try bytes(raw, plusSign: plusSign)
    return try validated(decoded.span)
  }

  public static func text(
    _ raw: String, plusSign: PlusSign = .plus
  ) throws(PercentDecodingError) -> String {
    try text(Array(raw.utf8).span, plusSign: plusSign)
  }

  /// Decodes percent-encoded bytes to bytes, which need not be UTF-8.
  ///
  /// - Throws: `PercentDecodingError` for a broken escape and for a zero byte (raw or escaped).
  public static func bytes(
    _ raw: Span<UInt8>, plusSign: PlusSign = .plus
  ) throws(PercentDecodingError) -> [UInt8] {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(raw.count)
    var index = 0
    while index < raw.count {
      let start = index
      var byte = raw[index]
      index += 1
      if byte == Characters.percent {
        guard index + 1 < raw.count,
          let high = raw[index].hexValue, let low = raw[index + 1].hexValue
        else { throw PercentDecodingError(reason: .brokenEscape, offset: start) }
        byte = high << 4 | low
        index += 2
      } else if byte == Characters.plus, plusSign == .space {
        byte = Characters.space
      }
      guard byte != 0 else { throw PercentDecodingError(reason: .zeroByte, offset: start) }
      decoded.append(byte)
    }
    return decoded
  }

  /// Whether the text is the same when it is decoded.
  ///
  /// That is the usual case and needs no decoding buffer.
  private static func isPlain(_ raw: Span<UInt8>, _ plusSign: PlusSign) -> Bool {
    for index in raw.indices {
      let byte = raw[index]
      if byte == Characters.percent || byte == 0 { return false }
      if byte == Characters.plus, plusSign == .space { return false }
    }
    return true
  }

  /// Converts bytes without any escapes to text, after checking that they are UTF-8 with few combining marks.
  static func validated(_ bytes: Span<UInt8>) throws(PercentDecodingError) -> String {
    do throws(UTF8.ValidationError) {
      let text = try UTF8Span(validating: bytes)
      if text.isKnownASCII || !text.hasTooManyMarks { return String(copying: text) }
    } catch {
      throw PercentDecodingError(reason: .notUTF8, offset: error.byteOffsets.lowerBound)
    }
    throw PercentDecodingError(reason: .tooManyMarks, offset: 0)
  }
}
