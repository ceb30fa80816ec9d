/// Escapes text for HTML.
///
/// Templates cannot insert a value without escaping it.
enum Escaping {
  /// Appends text with HTML's special characters escaped, so that it is safe in element content and in quoted
  /// attribute values.
  ///
  /// Control characters become U+FFFD, because HTML cannot represent them and some clients cut text at NUL.
  static func append(_ text: String, to out: inout [UInt8]) {
    var isAfterC2 = false
    for byte in text.utf8 {
      // A control character from U+0080 to U+009F, which UTF-8 encodes as C2 80 to C2 9F.
      if isAfterC2 {
        isAfterC2 = false
        if byte < 0xA0 {
          out += replacement
        } else {
          out += [0xC2, byte]
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "&"): out += ampersand
      case UInt8(ascii: "<"): out += less
      case UInt8(ascii: ">"): out += greater
      case UInt8(ascii: "\""): out += quote
      case UInt8(ascii: "'"): out += apostrophe
      case 0xC2: isAfterC2 = true
      case 0x09, 0x0A, 0x20...0x7E, 0x80...0xFF: out.append(byte)
      default: out += replacement
      }
    }
  }

  private static let ampersand = Array("&amp;".utf8)
  private static let less = Array("&lt;".utf8)
  private static let greater = Array("&gt;".utf8)
  private static let quote = Array("&quot;".utf8)
  private static let apostrophe = Array("&#39;".utf8)
  private static let replacement = Array("\u{FFFD}".utf8)
}
