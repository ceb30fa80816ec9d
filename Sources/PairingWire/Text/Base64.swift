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
  static func bytes(strict text: some StringProtocol) -> [UInt8]? {
    bytes(strict: Array(text.utf8).span)
  }

  static func bytes(strict letters: Span<UInt8>) -> [UInt8]? {
    guard letters.count.isMultiple(of: 4) else { return nil }
    var end = letters.count
    while end > 0, letters.count - end < 2, letters[end - 1] == padding { end -= 1 }
    var out: [UInt8] = []
    out.reserveCapacity(end * 3 / 4)
    var held: UInt32 = 0
    var bits: UInt32 = 0
    for place in 0..<end {
      // Padding anywhere else is no letter of the alphabet.
      guard let six = value(of: letters[place]) else { return nil }
      held = (held << 6 | six) & 0xFFFF
      bits += 6
      guard bits >= 8 else { continue }
      bits -= 8
      out.append(UInt8(truncatingIfNeeded: held >> bits))
    }
    return held & ((1 << bits) - 1) == 0 ? out : nil
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

  private static func decode(_ letters: ArraySlice<UInt8>, _ value: (UInt8) -> UInt32?) -> [UInt8]?
  {
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
