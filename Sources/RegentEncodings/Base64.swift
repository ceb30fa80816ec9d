/// Base64 with `+`, `/` and padding (RFC 4648 §4).
///
/// Decoding is strict: padding must be there, no line breaks, no bits after the last byte. A lenient decoder lets an
/// attacker spell one value in many ways, so that what was checked is not what is stored, and one signed token has two
/// faces. ``decodeLeniently(_:)`` is for what nobody signed.
public enum Base64 {
  /// The bytes as text.
  public static func encode(_ bytes: [UInt8]) -> String { encode(bytes.span) }

  /// The bytes as text.
  public static func encode(_ bytes: Span<UInt8>) -> String {
    String(decoding: letters(bytes), as: UTF8.self)
  }

  /// The bytes as letters in an array that its caller can wipe, for keys.
  public static func letters(_ bytes: Span<UInt8>) -> [UInt8] {
    Alphabet.standard.encode(bytes, padding: true)
  }

  /// The bytes of a text.
  public static func decode(_ text: String) throws(TextError) -> [UInt8] {
    try decode(text.utf8.span)
  }

  /// The bytes of a text.
  public static func decode(_ text: Span<UInt8>) throws(TextError) -> [UInt8] {
    guard text.count.isMultiple(of: 4) else {
      throw TextError(encoding: "base64", problem: .length, offset: text.count)
    }
    var end = text.count
    while end > 0, text.count - end < 2, text[end - 1] == UInt8(ascii: "=") { end -= 1 }
    return try Alphabet.standard.decode(text, upTo: end)
  }

  /// The bytes as text without padding, as the PHC string format of password hashes has it.
  public static func encodeUnpadded(_ bytes: [UInt8]) -> String {
    String(decoding: Alphabet.standard.encode(bytes.span, padding: false), as: UTF8.self)
  }

  /// The bytes of a text without padding; as strict as ``decode(_:)-(String)``.
  public static func decodeUnpadded(_ text: String) throws(TextError) -> [UInt8] {
    let span = text.utf8.span
    return try Alphabet.standard.decode(span, upTo: span.count)
  }
}

/// Base64 with `-` and `_` and without padding (RFC 4648 §5, RFC 7515); strict as ``Base64``.
public enum Base64URL {
  /// The bytes as text.
  public static func encode(_ bytes: [UInt8]) -> String { encode(bytes.span) }

  /// The bytes as text.
  public static func encode(_ bytes: Span<UInt8>) -> String {
    String(decoding: Alphabet.url.encode(bytes, padding: false), as: UTF8.self)
  }

  /// The bytes of a text.
  public static func decode(_ text: String) throws(TextError) -> [UInt8] {
    try decode(text.utf8.span)
  }

  /// The bytes of a text.
  public static func decode(_ text: Span<UInt8>) throws(TextError) -> [UInt8] {
    try Alphabet.url.decode(text, upTo: text.count)
  }
}
