// The part of the writer for digits and escapes.
//
// It escapes three groups of characters that RFC 8259 allows in a string:
// - U+2028 and U+2029, which end a line in older JavaScript;
// - DEL and U+0080 to U+009F, which control a terminal that shows the text (U+009B begins a control sequence);
// - with `isHTMLSafe`, `<`, `>` and `&`, which could end a script element in HTML.

extension JSONWriter {
  /// Appends `string` in quotes.
  mutating func quoted(_ string: String) {
    bytes.append(Byte.quote)
    if isPlain(string.utf8.span) {
      unsafe string.utf8.span.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
    } else {
      escaped(string.utf8.span)
    }
    bytes.append(Byte.quote)
  }

  private func isPlain(_ text: Span<UInt8>) -> Bool {
    // Nearly all long strings are tokens without escapes, so eight bytes are checked at a time.
    var start = 0
    while start &+ 8 <= text.count {
      let word = unsafe text.bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: start, as: UInt64.self)
      guard !EightBytes(word).mayNeedEscape(style) || isPlain(text, start..<(start &+ 8)) else { return false }
      start &+= 8
    }
    return isPlain(text, start..<text.count)
  }

  private func isPlain(_ text: Span<UInt8>, _ places: Range<Int>) -> Bool {
    for place in places {
      let byte = text[place]
      // Fast path: these three comparisons accept letters and digits, and none of & < > " \.
      let isUsual = byte &- 0x2A < 0x3C - 0x2A || byte &- 0x3F < 0x5C - 0x3F || byte &- 0x5D < 0x7F - 0x5D
      if !isUsual, mayNeedEscape(byte) { return false }
    }
    return true
  }

  /// Whether the byte may begin a sequence that must be escaped; also true for a few bytes that do not.
  private func mayNeedEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == Byte.quote || byte == Byte.backslash || byte == 0x7F || byte == 0xC2
      || byte == 0xE2 || (style.isHTMLSafe && (byte == 0x26 || byte == 0x3C || byte == 0x3E))
  }

  private mutating func escaped(_ text: Span<UInt8>) {
    var place = 0
    while place < text.count {
      if mayNeedEscape(text[place]), let escape = escape(text, place) {
        bytes.append(Byte.backslash)
        if let letter = escape.letter {
          bytes.append(letter)
        } else {
          bytes.append(UInt8(ascii: "u"))
          for shift in [12, 8, 4, 0] { bytes.append(hexDigit(escape.scalar >> UInt16(shift) & 15)) }
        }
        place += escape.length
      } else {
        bytes.append(text[place])
        place += 1
      }
    }
  }

  /// The escape for the character that begins at `place`; nil if it needs none.
  private func escape(
    _ text: Span<UInt8>, _ place: Int
  ) -> (letter: UInt8?, scalar: UInt16, length: Int)? {
    let byte = text[place]
    switch byte {
    case Byte.quote, Byte.backslash: return (byte, 0, 1)
    case 0x08: return (UInt8(ascii: "b"), 0, 1)
    case 0x09: return (UInt8(ascii: "t"), 0, 1)
    case 0x0A: return (UInt8(ascii: "n"), 0, 1)
    case 0x0C: return (UInt8(ascii: "f"), 0, 1)
    case 0x0D: return (UInt8(ascii: "r"), 0, 1)
    case 0..<0x20, 0x7F: return (nil, UInt16(byte), 1)
    case 0x26, 0x3C, 0x3E: return style.isHTMLSafe ? (nil, UInt16(byte), 1) : nil
    case 0xC2 where place + 1 < text.count && text[place + 1] < 0xA0:
      return (nil, UInt16(text[place + 1]), 2)
    case 0xE2 where place + 2 < text.count && text[place + 1] == 0x80:
      let last = text[place + 2]
      return last & 0xFE == 0xA8 ? (nil, 0x2000 | UInt16(last & 0x3F), 3) : nil
    default: return nil
    }
  }

  mutating func decimal(_ number: UInt64) {
    if number < 10 {
      bytes.append(0x30 + UInt8(truncatingIfNeeded: number))
      return
    }
    var digits: [20 of UInt8] = .init(repeating: 0)
    var place = 20
    var rest = number
    while rest > 0 {
      place -= 1
      digits[place] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
    for digit in place..<20 { bytes.append(digits[digit]) }
  }
}

/// Eight bytes of a text that are checked with one 64-bit word.
private struct EightBytes {
  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let high: UInt64 = 0x8080_8080_8080_8080
  private let bytes: UInt64

  init(_ bytes: UInt64) { self.bytes = bytes }

  /// Whether one of the bytes may begin a sequence that must be escaped.
  ///
  /// Also true for every byte outside ASCII.
  func mayNeedEscape(_ style: JSONWriter.Style) -> Bool {
    let controls = (bytes &- Self.ones &* 0x20) & ~bytes
    var found = bytes | controls | places(of: Byte.quote) | places(of: Byte.backslash) | places(of: 0x7F)
    if style.isHTMLSafe { found |= places(of: 0x26) | places(of: 0x3C) | places(of: 0x3E) }
    return found & Self.high != 0
  }

  /// Sets the highest bit of each byte that equals `byte`.
  ///
  /// Bytes after the first match may be marked wrongly.
  private func places(of byte: UInt8) -> UInt64 {
    let rest = bytes ^ Self.ones &* UInt64(byte)
    return (rest &- Self.ones) & ~rest
  }
}

private func hexDigit(_ value: UInt16) -> UInt8 {
  let digit = UInt8(truncatingIfNeeded: value)
  return digit < 10 ? 0x30 + digit : 0x57 + digit
}
