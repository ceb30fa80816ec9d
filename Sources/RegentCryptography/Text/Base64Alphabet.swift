/// The 64 letters of one of the two alphabets, and the work both share.
struct Alphabet: Sendable {
  let name: String
  private let letters: [UInt8]
  /// The value of each byte, 0xFF for those outside the alphabet.
  private let values: [UInt8]

  static let standard = Alphabet("base64", "+/")
  static let url = Alphabet("base64url", "-_")

  private init(_ name: String, _ lastTwo: String) {
    self.name = name
    letters = Array(
      ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + lastTwo).utf8)
    var values = [UInt8](repeating: 0xFF, count: 256)
    for (value, letter) in letters.enumerated() { values[Int(letter)] = UInt8(value) }
    self.values = values
  }

  func encode(_ bytes: Span<UInt8>, padding: Bool) -> String {
    String(decoding: encoded(bytes, padding: padding), as: UTF8.self)
  }

  /// The letters, in an array that its caller can wipe.
  func encoded(_ bytes: Span<UInt8>, padding: Bool) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var place = 0
    while place < bytes.count {
      let count = min(3, bytes.count - place)
      var group: UInt32 = 0
      for step in 0..<3 {
        group = group << 8 | (step < count ? UInt32(bytes[place + step]) : 0)
      }
      for step in 0..<4 {
        if step <= count {
          text.append(letters[Int(group >> UInt32(18 - 6 * step) & 63)])
        } else if padding {
          text.append(UInt8(ascii: "="))
        }
      }
      place += count
    }
    return text
  }

  /// The bytes that the letters before `end` stand for; what follows is padding that the caller has checked.
  func decode(
    _ text: Span<UInt8>, upTo end: Int, strictBits: Bool = true
  ) throws(TextError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(end / 4 * 3 + 2)
    var group: UInt32 = 0
    for place in 0..<end {
      let value = values[Int(text[place])]
      guard value != 0xFF else {
        let isPadding = text[place] == UInt8(ascii: "=")
        throw TextError(
          encoding: name, problem: isPadding ? .padding : .character, offset: place)
      }
      group = group << 6 | UInt32(value)
      if place & 3 == 3 {
        bytes.append(UInt8(truncatingIfNeeded: group >> 16))
        bytes.append(UInt8(truncatingIfNeeded: group >> 8))
        bytes.append(UInt8(truncatingIfNeeded: group))
        group = 0
      }
    }
    switch end & 3 {
    case 0: break
    case 1: throw TextError(encoding: name, problem: .length, offset: end)
    case 2:
      try checkLeft(group & 0xF, strictBits, end)
      bytes.append(UInt8(truncatingIfNeeded: group >> 4))
    default:
      try checkLeft(group & 0x3, strictBits, end)
      bytes.append(UInt8(truncatingIfNeeded: group >> 10))
      bytes.append(UInt8(truncatingIfNeeded: group >> 2))
    }
    return bytes
  }

  private func checkLeft(_ bits: UInt32, _ strict: Bool, _ end: Int) throws(TextError) {
    guard bits == 0 || !strict else {
      throw TextError(encoding: name, problem: .trailingBits, offset: end - 1)
    }
  }
}
