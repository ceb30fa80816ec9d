/// Hexadecimal text with two digits for each byte.
public enum Hex {
  /// Encodes bytes as lower-case hex digits.
  public static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      text.append(digit(byte >> 4))
      text.append(digit(byte & 15))
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Decodes lower-case hex digits.
  ///
  /// Upper case is refused, so that one value has one spelling.
  public static func decode(_ text: String) throws(TextError) -> [UInt8] {
    try decode(text.utf8.span, upperCase: false)
  }

  /// Decodes hex digits in either case, for input that people type.
  public static func decodeEitherCase(_ text: String) throws(TextError) -> [UInt8] {
    try decode(text.utf8.span, upperCase: true)
  }

  private static func decode(
    _ text: Span<UInt8>, upperCase: Bool
  ) throws(TextError) -> [UInt8] {
    guard text.count.isMultiple(of: 2) else {
      throw TextError(encoding: "hex", problem: .length, offset: text.count)
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 2)
    var place = 0
    while place < text.count {
      let high = try value(text, place, upperCase)
      bytes.append(high << 4 | (try value(text, place + 1, upperCase)))
      place += 2
    }
    return bytes
  }

  private static func value(
    _ text: Span<UInt8>, _ place: Int, _ upperCase: Bool
  ) throws(TextError) -> UInt8 {
    let letter = text[place]
    switch letter {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return letter - 0x30
    case UInt8(ascii: "a")...UInt8(ascii: "f"): return letter - 0x57
    case UInt8(ascii: "A")...UInt8(ascii: "F") where upperCase: return letter - 0x37
    default: throw TextError(encoding: "hex", problem: .character, offset: place)
    }
  }

  /// The lower-case hex digit of a value below 16.
  @inlinable package static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? 0x30 + value : 0x57 + value
  }
}
