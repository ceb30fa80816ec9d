extension Base64 {
  /// Decodes base64 text from senders that do not follow the RFC.
  ///
  /// It accepts both alphabets, padding that is missing or wrong, non-zero bits after the last byte, white space around
  /// the text and line breaks in it.
  ///
  /// A space inside the text has two possible meanings: a `+` that a form decoder turned into a space, or layout. If
  /// both readings decode, the one whose length is a multiple of four wins. If that does not decide, the space counts
  /// as a `+`, because devices that forget to escape their parameter send that.
  /// Tests/RegentEncodingsTests/LenientCorpusTests.swift lists the cases.
  ///
  /// Use this function only for the descriptions that devices send of themselves and for identities of temporary
  /// passes. Never use it for data that is signed or compared with a secret: one value then has many spellings.
  public static func decodeLeniently(_ text: String) throws(TextError) -> [UInt8] {
    let eaten = withEatenPluses(text)
    let layout = withoutLayout(text)
    let fromEaten = Result { () throws(TextError) in try bytes(of: eaten) }
    guard eaten.letters != layout.letters, let fromLayout = try? bytes(of: layout) else { return try fromEaten.get() }
    guard case .success(let bytes) = fromEaten, eaten.fillsGroups || !layout.fillsGroups else { return fromLayout }
    return bytes
  }

  /// The text of a sender, read with one of the two meanings of a space.
  private struct Reading {
    /// The base64 letters in the standard alphabet, without padding.
    var letters: [UInt8] = []
    var paddings = 0

    /// Whether the length is a multiple of four, as of a text from an encoder that pads.
    var fillsGroups: Bool { (letters.count + paddings).isMultiple(of: 4) }
  }

  // Removes white space at both ends, and tabs and line breaks inside. A space inside the text becomes a `+`. Padding
  // is only recognised at the end.
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

  // Removes spaces, line breaks and padding everywhere. A tab stays and makes this reading fail. Otherwise texts with
  // only one meaning would get a second one.
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
