/// Escapes untrusted text for a terminal or a log: one line, without control sequences, invisible characters or
/// characters that change the reading direction.
///
/// A device may name itself `ESC ]0;…` (sets the window title), `\r` (overwrites the line) or U+202E (reverses the
/// rest), or add a line break to forge log lines. They are printed as `\e`, `\r`, `\u{202e}` and `\n`. Everything that
/// CommandKit prints is escaped, except by ``Console/draw(_:)`` and ``Console/drawNote(_:)``.
public func harmless(_ text: String) -> String {
  // Fast path: most text is printable ASCII.
  if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) { return text }
  var result = ""
  result.reserveCapacity(text.utf8.count)
  var marks = 0
  var previous: Unicode.Scalar?
  for scalar in text.unicodeScalars {
    marks = displayWidth(scalar) == 0 ? marks + 1 : 0
    defer { previous = scalar }
    // The emoji variation selector after an emoji is allowed: "Anna's TV ❤️" is a normal name.
    let isEmojiStyle = scalar == "\u{fe0f}" && previous?.properties.isEmoji == true
    // Many combining marks on one character would cover the lines around it.
    if !isEmojiStyle && isHarmful(scalar) || marks > 4 || (marks > 0 && result.isEmpty) {
      result += escaped(scalar)
    } else {
      result.unicodeScalars.append(scalar)
    }
  }
  return result
}

/// Escapes bytes that should be UTF-8; invalid bytes become `\xff`.
public func harmless(bytes: some Sequence<UInt8>) -> String {
  let bytes = Array(bytes)
  var result = ""
  var good = ""
  var position = 0
  while position < bytes.count {
    if let (scalar, length) = scalar(in: bytes, at: position) {
      good.unicodeScalars.append(scalar)
      position += length
    } else {
      result += harmless(good) + "\\x" + hex(UInt32(bytes[position]), 2)
      good = ""
      position += 1
    }
  }
  return result + harmless(good)
}

/// The character that begins at `start`; nil if a strict UTF-8 decoder would refuse it.
private func scalar(in bytes: [UInt8], at start: Int) -> (Unicode.Scalar, length: Int)? {
  let first = bytes[start]
  if first < 0x80 { return (Unicode.Scalar(first), 1) }
  let (length, smallest): (Int, UInt32) =
    switch first {
    case 0xc2...0xdf: (2, 0x80)
    case 0xe0...0xef: (3, 0x800)
    case 0xf0...0xf4: (4, 0x1_0000)
    default: (0, 0)
    }
  guard length > 0, start + length <= bytes.count else { return nil }
  var value = UInt32(first & (0xff >> UInt8(length + 1)))
  for byte in bytes[start + 1..<start + length] {
    guard byte & 0xc0 == 0x80 else { return nil }
    value = value << 6 | UInt32(byte & 0x3f)
  }
  guard value >= smallest, let scalar = Unicode.Scalar(value) else { return nil }
  return (scalar, length)
}

private func escaped(_ scalar: Unicode.Scalar) -> String {
  switch scalar {
  case "\n": "\\n"
  case "\r": "\\r"
  case "\t": "\\t"
  case "\u{1b}": "\\e"
  case "\0": "\\0"
  default: "\\u{\(hex(scalar.value, 1))}"
  }
}

private func hex(_ value: UInt32, _ digits: Int) -> String {
  let text = String(value, radix: 16)
  return String(repeating: "0", count: max(0, digits - text.count)) + text
}

/// Whether the character could mislead a terminal, a log or a reader.
func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.value {
  case 0x20..<0x7f: return false
  // Hangul fillers: letters by category, but invisible.
  case 0x115f, 0x1160, 0x3164, 0xffa0, 0x2800: return true
  // Zero-width joiners: legitimate in emoji, Persian and Hindi, but otherwise a way to hide a difference.
  case 0x200c, 0x200d: return true
  // Combining grapheme joiner, Khmer and Mongolian fillers, variation selectors, tags: all invisible.
  case 0x034f, 0x17b4, 0x17b5, 0x180b...0x180f, 0xfe00...0xfe0f, 0xe0000...0xe0fff: return true
  default:
    switch scalar.properties.generalCategory {
    // Invisible characters: controls (C0, DEL, C1), bidirectional and zero-width formats, separators of lines and
    // paragraphs, and unassigned code points.
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned:
      return true
    default: return false
    }
  }
}
