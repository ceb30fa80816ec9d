/// Base64 (RFC 4648): strict where something was signed, forgiving where devices improvise.
enum Base64 {
  /// The text of bytes, with the standard alphabet and padding.
  static func text(_ bytes: some Collection<UInt8>) -> String {
    var out: [UInt8] = []
    out.reserveCapacity((bytes.count + 2) / 3 * 4)
    var held: UInt32 = 0
    var count = 0
    for byte in bytes {
      held = held << 8 | UInt32(byte)
      count += 1
      guard count == 3 else { continue }
      for shift in [18, 12, 6, 0] as [UInt32] { out.append(alphabet[Int(held >> shift & 63)]) }
      (held, count) = (0, 0)
    }
    if count == 1 {
      out += [alphabet[Int(held >> 2)], alphabet[Int(held << 4 & 63)], padding, padding]
    } else if count == 2 {
      out += [
        alphabet[Int(held >> 10)], alphabet[Int(held >> 4 & 63)], alphabet[Int(held << 2 & 63)],
        padding,
      ]
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// The bytes of a text in the one form that ``text(_:)`` writes; nothing for any other form.
  ///
  /// Two texts that decode to the same bytes would give one signed token two faces: spaces, missing padding, the URL
  /// alphabet and stray bits are refused.
  static func bytes(strict text: String) -> [UInt8]? { bytes(strict: text.utf8.span) }

  static func bytes(strict letters: Span<UInt8>) -> [UInt8]? {
    guard letters.count.isMultiple(of: 4) else { return nil }
    var end = letters.count
    while end > 0, letters.count - end < 2, letters[end - 1] == padding { end -= 1 }
    let isWhole = end.isMultiple(of: 4)
    let groups = isWhole ? end / 4 : end / 4 + 1
    // Values that are wrong are looked for once, at the end.
    let values = Self.values
    var wrong: UInt8 = 0
    var strayBits: UInt32 = 0
    let bytes = [UInt8](capacity: groups * 3) { output in
      for group in 0..<end / 4 {
        let place = group * 4
        let (one, two) = (values[Int(letters[place])], values[Int(letters[place + 1])])
        let (three, four) = (values[Int(letters[place + 2])], values[Int(letters[place + 3])])
        wrong |= one | two | three | four
        let held = UInt32(one) << 18 | UInt32(two) << 12 | UInt32(three) << 6 | UInt32(four)
        output.append(UInt8(truncatingIfNeeded: held >> 16))
        output.append(UInt8(truncatingIfNeeded: held >> 8))
        output.append(UInt8(truncatingIfNeeded: held))
      }
      guard !isWhole else { return }
      let place = end / 4 * 4
      var held: UInt32 = 0
      for step in 0..<4 {
        let value = place + step < end ? values[Int(letters[place + step])] : 0
        wrong |= value
        held = held << 6 | UInt32(value)
      }
      output.append(UInt8(truncatingIfNeeded: held >> 16))
      if end - place == 3 { output.append(UInt8(truncatingIfNeeded: held >> 8)) }
      strayBits = end - place == 3 ? held & 0xFF : held & 0xFFFF
    }
    return wrong < 64 && strayBits == 0 ? bytes : nil
  }

  /// The bytes of a text in any form that clients were seen to send: URL alphabet, missing padding, line breaks.
  static func bytes(forgiving text: some StringProtocol) -> [UInt8]? {
    let letters = text.utf8.filter { ![0x0A, 0x0D, 0x20, padding].contains($0) }
    return decode(letters[...]) { letter in
      switch letter {
      case UInt8(ascii: "-"): 62
      case UInt8(ascii: "_"): 63
      default: value(of: letter)
      }
    }
  }

  private static func decode(_ letters: ArraySlice<UInt8>, _ value: (UInt8) -> UInt32?) -> [UInt8]? {
    guard letters.count % 4 != 1 else { return nil }
    var out: [UInt8] = []
    out.reserveCapacity(letters.count * 3 / 4)
    var held: UInt32 = 0
    var bits: UInt32 = 0
    for letter in letters {
      guard let six = value(letter) else { return nil }
      held = (held << 6 | six) & 0xFFFF
      bits += 6
      guard bits >= 8 else { continue }
      bits -= 8
      out.append(UInt8(held >> bits & 0xFF))
    }
    return out
  }

  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")
  /// The value of each byte, 0xFF for those outside the alphabet.
  private static let values = (UInt8.min...UInt8.max).map { letter in
    value(of: letter).map { UInt8($0) } ?? 0xFF
  }

  private static func value(of letter: UInt8) -> UInt32? {
    switch letter {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(letter - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(letter - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(letter - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
