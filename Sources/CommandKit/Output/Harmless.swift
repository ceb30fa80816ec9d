/// Text from strangers made safe to show on a terminal or in a log: one line, no commands to the terminal, nothing
/// invisible, nothing that reorders what is read.
///
/// A device may call itself `ESC ]0;…` (sets the window's title), `\r` (overwrites the line), U+202E (shows the rest
/// backwards) or put a line break into its name to write log lines of its own. All of these are shown as `\e`, `\r`,
/// `\u{202e}`, `\n`. What this package prints comes through here; only ``Console/draw(_:)`` and
/// ``Console/drawNote(_:)`` print what they are given.
public func harmless(_ text: String) -> String {
  // Nearly everything is plain ASCII, and that needs no work.
  if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) { return text }
  var result = ""
  result.reserveCapacity(text.utf8.count)
  var marks = 0
  var previous: Unicode.Scalar?
  for scalar in text.unicodeScalars {
    marks = displayWidth(scalar) == 0 ? marks + 1 : 0
    defer { previous = scalar }
    // Makes a heart red and nothing else: "Anna's TV ❤️" is a fair name.
    let isEmojiStyle = scalar == "\u{fe0f}" && previous?.properties.isEmoji == true
    // Hundreds of accents on one letter cover the lines around it.
    if !isEmojiStyle && isHarmful(scalar) || marks > 4 || (marks > 0 && result.isEmpty) {
      result += escaped(scalar)
    } else {
      result.unicodeScalars.append(scalar)
    }
  }
  return result
}

/// Bytes that should be UTF-8 and may be anything, shown the same way; stray bytes become `\xff`.
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

/// The character that begins there; nil for anything that a strict decoder refuses.
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

/// Whether a terminal, a log or an eye could be misled by it.
func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.value {
  case 0x20..<0x7f: return false
  // Hangul fillers are letters to Unicode and empty to people.
  case 0x115f, 0x1160, 0x3164, 0xffa0, 0x2800: return true
  // Joins emoji and forms letters of Persian and Hindi, and hides differences everywhere else.
  case 0x200c, 0x200d: return true
  // Combining grapheme joiner, Khmer and Mongolian fillers, variation selectors, tags: all invisible.
  case 0x034f, 0x17b4, 0x17b5, 0x180b...0x180f, 0xfe00...0xfe0f, 0xe0000...0xe0fff: return true
  default:
    switch scalar.properties.generalCategory {
    // Controls (C0, DEL, C1), bidi and zero-width formats, line and paragraph separators, unassigned.
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned:
      return true
    default: return false
    }
  }
}
