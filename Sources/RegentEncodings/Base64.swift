/// Base64 with `+`, `/` and padding (RFC 4648 §4).
///
/// Decoding is strict: it demands padding and refuses line breaks and non-zero bits after the last byte.
///
/// With a lenient decoder an attacker could spell one value in many ways: the text that was checked would differ from
/// the text that is stored, and one signed token would have several spellings. Use ``decodeLeniently(_:)`` only for
/// data that is not signed.
public enum Base64 {
  public static func encode(_ bytes: [UInt8]) -> String { encode(bytes.span) }

  public static func encode(_ bytes: Span<UInt8>) -> String {
    String(decoding: letters(bytes), as: UTF8.self)
  }

  /// Encodes bytes into an array of letters that the caller can wipe.
  ///
  /// Use it for keys.
  public static func letters(_ bytes: Span<UInt8>) -> [UInt8] {
    Alphabet.standard.encode(bytes, padding: true)
  }

  public static func decode(_ text: String) throws(TextError) -> [UInt8] {
    try decode(text.utf8.span)
  }

  public static func decode(_ text: Span<UInt8>) throws(TextError) -> [UInt8] {
    guard text.count.isMultiple(of: 4) else {
      throw TextError(encoding: "base64", problem: .length, offset: text.count)
    }
    var end = text.count
    while end > 0, text.count - end < 2, text[end - 1] == UInt8(ascii: "=") { end -= 1 }
    return try Alphabet.standard.decode(text, upTo: end)
  }

  /// Encodes bytes without padding, as the PHC string format of password hashes demands.
  public static func encodeUnpadded(_ bytes: [UInt8]) -> String {
    String(decoding: Alphabet.standard.encode(bytes.span, padding: false), as: UTF8.self)
  }

  /// Decodes a base64 text without padding, as strictly as ``decode(_:)-(String)``.
  public static func decodeUnpadded(_ text: String) throws(TextError) -> [UInt8] {
    let span = text.utf8.span
    return try Alphabet.standard.decode(span, upTo: span.count)
  }
}

/// Base64 with `-` and `_` and without padding (RFC 4648 §5, RFC 7515); as strict as ``Base64``.
public enum Base64URL {
  public static func encode(_ bytes: [UInt8]) -> String { encode(bytes.span) }

  public static func encode(_ bytes: Span<UInt8>) -> String {
    String(decoding: Alphabet.url.encode(bytes, padding: false), as: UTF8.self)
  }

  public static func decode(_ text: String) throws(TextError) -> [UInt8] {
    try decode(text.utf8.span)
  }

  public static func decode(_ text: Span<UInt8>) throws(TextError) -> [UInt8] {
    try Alphabet.url.decode(text, upTo: text.count)
  }
}
