extension Base64 {
  /// The bytes of a text as the sloppiest of senders write it: either alphabet, padding, less, too much or none, bits
  /// after the last byte, white space around it and line breaks inside.
  ///
  /// A space inside is one of two things: a `+` that a form decoder has eaten, or layout. Where both give bytes, the
  /// reading that fills whole groups of four is meant, and when that does not tell them apart, the eaten `+`: it is
  /// what a device that forgets to escape its parameter sends. Tests/RegentEncodingsTests/LenientCorpusTests.swift
  /// lists it.
  ///
  /// For descriptions that devices give of themselves and identities of temporary passes alone; never for anything that
  /// is signed or compared with a secret.
  public static func decodeLeniently(_ text: String) throws(TextError) -> [UInt8] {
    let eaten = withEatenPluses(text)
    let layout = withoutLayout(text)
    let fromEaten = Result { () throws(TextError) in try bytes(of: eaten) }
    guard eaten.letters != layout.letters, let fromLayout = try? bytes(of: layout) else { return try fromEaten.get() }
    guard case .success(let bytes) = fromEaten, eaten.fillsGroups || !layout.fillsGroups else { return fromLayout }
    return bytes
  }

  /// What is left of a text in one way of reading it.
  private struct Reading {
    /// In the standard alphabet, without padding.
    var letters: [UInt8] = []
    var paddings = 0

    /// Whether an encoder that pads could have written it.
    var fillsGroups: Bool { (letters.count + paddings).isMultiple(of: 4) }
  }

  // White space goes from both ends, tabs and line breaks from inside; a space inside was a `+`. Padding is at the end.
  private static func withEatenPluses(_ text: String) -> Reading {
    var reading = Reading()
    for letter in trimmed(text.utf8) where letter != 0x09 && letter != 0x0A && letter != 0x0D {
      reading.letters.append(letter == 0x20 ? UInt8(ascii: "+") : standard(letter))
    }
    while reading.letters.last == padding {
      reading.letters.removeLast()
      reading.paddings += 1
    }
    return reading
  }

  // Spaces and line breaks mean nothing anywhere, and neither does padding. A tab has no place in this reading: with
  // it, texts that had one meaning would get another.
  private static func withoutLayout(_ text: String) -> Reading {
    var reading = Reading()
    for letter in text.utf8 where letter != 0x20 && letter != 0x0A && letter != 0x0D {
      if letter == padding { reading.paddings += 1 } else { reading.letters.append(standard(letter)) }
    }
    return reading
  }

  private static func bytes(of reading: Reading) throws(TextError) -> [UInt8] {
    try Alphabet.standard.decode(reading.letters.span, upTo: reading.letters.count, strictBits: false)
  }

  private static let padding = UInt8(ascii: "=")

  private static func standard(_ letter: UInt8) -> UInt8 {
    switch letter {
    case UInt8(ascii: "-"): UInt8(ascii: "+")
    case UInt8(ascii: "_"): UInt8(ascii: "/")
    default: letter
    }
  }

  private static func trimmed(_ text: String.UTF8View) -> Substring.UTF8View {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    let start = text.firstIndex { !isSpace($0) } ?? text.endIndex
    let end = text.lastIndex { !isSpace($0) }.map { text.index(after: $0) } ?? start
    return text[start..<max(start, end)]
  }
}
