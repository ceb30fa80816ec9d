/// Base64 with `+`, `/` and padding (RFC 4648 §4).
///
/// Decoding is strict: padding must be there, no line breaks, no bits after the last byte. A lenient decoder lets
/// an attacker spell one value in many ways, so that what was checked is not what is stored.
public enum Base64 {
  /// The bytes as text.
  public static func encode(_ bytes: [UInt8]) -> String {
    Alphabet.standard.encode(bytes.span, padding: true)
  }

  /// The bytes as text.
  public static func encode(_ bytes: Span<UInt8>) -> String {
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

  /// The bytes of a text as the sloppiest of senders write it: either alphabet, padding or none, white
  /// space anywhere except that a space inside may also be a `+` which a form decoder has eaten.
  ///
  /// For descriptions that devices give of themselves; never for anything that is signed, compared or
  /// looked up.
  public static func decodeLeniently(_ text: String) throws(TextError) -> [UInt8] {
    var kept: [UInt8] = []
    kept.reserveCapacity(text.utf8.count)
    for letter in trimmed(text.utf8) {
      switch letter {
      case 0x09, 0x0A, 0x0D: break
      case UInt8(ascii: "-"), 0x20: kept.append(UInt8(ascii: "+"))
      case UInt8(ascii: "_"): kept.append(UInt8(ascii: "/"))
      default: kept.append(letter)
      }
    }
    while kept.last == UInt8(ascii: "=") { kept.removeLast() }
    return try Alphabet.standard.decode(kept.span, upTo: kept.count, strictBits: false)
  }

  private static func trimmed(_ text: String.UTF8View) -> Substring.UTF8View {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    let start = text.firstIndex { !isSpace($0) } ?? text.endIndex
    let end = text.lastIndex { !isSpace($0) }.map { text.index(after: $0) } ?? start
    return text[start..<max(start, end)]
  }
}

/// Base64 with `-` and `_` and without padding (RFC 4648 §5, RFC 7515); strict as ``Base64``.
public enum Base64URL {
  /// The bytes as text.
  public static func encode(_ bytes: [UInt8]) -> String {
    Alphabet.url.encode(bytes.span, padding: false)
  }

  /// The bytes as text.
  public static func encode(_ bytes: Span<UInt8>) -> String {
    Alphabet.url.encode(bytes, padding: false)
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
