internal import RegentEncodings

/// Escapes text between XML tags, and restores it.
enum XMLText {
  /// Appends an escaped text from which every XML 1.0 parser restores the original.
  ///
  /// Characters that XML 1.0 forbids (most control characters) become U+FFFD. A forbidden character would make the
  /// whole document unreadable, and devices choose some of the texts. A carriage return is written as a character
  /// reference, because parsers turn a literal one into a line feed.
  static func escape(_ text: String, into bytes: inout [UInt8]) {
    // Fast path: most texts contain no bytes that must be escaped, and are copied as a whole.
    guard text.utf8.contains(where: needsCare) else {
      bytes.append(contentsOf: text.utf8)
      return
    }
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "&"): bytes.append(contentsOf: "&amp;".utf8)
      case UInt8(ascii: "<"): bytes.append(contentsOf: "&lt;".utf8)
      case UInt8(ascii: ">"): bytes.append(contentsOf: "&gt;".utf8)
      case 0x0D: bytes.append(contentsOf: "&#13;".utf8)
      case 0x09, 0x0A: bytes.append(byte)
      case 0..<0x20: bytes.append(contentsOf: "\u{FFFD}".utf8)
      default:
        bytes.append(byte)
        // U+FFFE and U+FFFF are the only other characters that XML forbids. Their bytes EF BF BE and EF BF BF become EF
        // BF BD.
        if byte == 0xBE || byte == 0xBF, bytes.suffix(3).starts(with: [0xEF, 0xBF]) {
          bytes[bytes.count - 1] = 0xBD
        }
      }
    }
  }

  private static func needsCare(_ byte: UInt8) -> Bool {
    switch byte {
    case 0..<0x20, UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), 0xEF: true
    default: false
    }
  }

  /// Restores a text from the output of ``escape(_:into:)``.
  ///
  /// Returns `nil` if that function cannot have written the bytes.
  static func unescape(_ bytes: Span<UInt8>) -> String? {
    var isPlain = true
    for place in bytes.indices {
      let byte = bytes[place]
      // Fast path: most bytes are letters and digits.
      if byte > UInt8(ascii: ">"), byte < 0x80 { continue }
      switch byte {
      case UInt8(ascii: "<"), UInt8(ascii: ">"): return nil
      case UInt8(ascii: "&"): isPlain = false
      case 0x09, 0x0A: break
      case 0..<0x20: return nil
      case 0xBE, 0xBF:
        guard place < 2 || bytes[place - 2] != 0xEF || bytes[place - 1] != 0xBF else { return nil }
      default: break
      }
    }
    // Fast path: most texts contain no character references, and are copied as a whole.
    guard isPlain else { return resolved(bytes) }
    guard let text = try? UTF8Span(validating: bytes), !text.hasTooManyMarks else { return nil }
    return String(copying: text)
  }

  /// Replaces the character references in an escaped text.
  ///
  /// Returns `nil` if one is not among the six known references.
  private static func resolved(_ bytes: Span<UInt8>) -> String? {
    var out: [UInt8] = []
    var place = 0
    while place < bytes.count {
      guard bytes[place] == UInt8(ascii: "&") else {
        out.append(bytes[place])
        place += 1
        continue
      }
      let found = references.first { reference in
        reference.written.count <= bytes.count - place
          && reference.written.indices.allSatisfy { reference.written[$0] == bytes[place + $0] }
      }
      guard let found else { return nil }
      out.append(found.byte)
      place += found.written.count
    }
    guard let text = try? UTF8Span(validating: out.span), !text.hasTooManyMarks else { return nil }
    return String(copying: text)
  }

  private static let references: [(written: [UInt8], byte: UInt8)] = [
    (Array("&amp;".utf8), UInt8(ascii: "&")), (Array("&lt;".utf8), UInt8(ascii: "<")),
    (Array("&gt;".utf8), UInt8(ascii: ">")), (Array("&#13;".utf8), 0x0D),
    (Array("&quot;".utf8), UInt8(ascii: "\"")), (Array("&apos;".utf8), UInt8(ascii: "'")),
  ]

  /// Turns a text into a valid name of an XML element.
  ///
  /// Needed for rating schemes, whose names operators choose.
  static func name(_ text: String) -> String {
    if text.utf8.allSatisfy(isInName), text.utf8.first.map(isFirstInName) ?? false { return text }
    let safe = text.utf8.map { isInName($0) ? $0 : UInt8(ascii: "_") }
    let name = String(decoding: safe, as: UTF8.self)
    return safe.first.map(isFirstInName) ?? false ? name : "_" + name
  }

  private static func isFirstInName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "_"):
      true
    default: false
    }
  }

  private static func isInName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): true
    default: isFirstInName(byte)
    }
  }
}
