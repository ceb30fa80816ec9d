/// An opaque sRGB colour, with the contrast of WCAG 2.2.
struct Color: Hashable, Sendable {
  let red: UInt8
  let green: UInt8
  let blue: UInt8

  /// Parses six hexadecimal digits, with or without `#`.
  init?(hex: String) {
    let digits = hex.hasPrefix("#") ? hex.dropFirst() : hex[...]
    guard digits.utf8.count == 6, digits.utf8.allSatisfy({ Color.isHex($0) }),
      let number = UInt32(digits, radix: 16)
    else { return nil }
    self.init(UInt8(number >> 16), UInt8(number >> 8 & 255), UInt8(number & 255))
  }

  init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  static let black = Color(0, 0, 0)
  static let white = Color(255, 255, 255)

  /// The colour as six hexadecimal digits in lower case.
  var hex: String {
    let number = UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue)
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 6 - digits.count) + digits
  }

  /// The contrast ratio of WCAG, from 1 (equal colours) to 21 (black on white).
  func contrast(with other: Color) -> Double {
    let (one, two) = (luminance, other.luminance)
    return (max(one, two) + 0.05) / (min(one, two) + 0.05)
  }

  /// This colour mixed with another one; `share` is the other one's part, 0 to 1.
  func mixed(with other: Color, _ share: Double) -> Color {
    let mix = { (one: UInt8, two: UInt8) in
      UInt8((Double(one) + (Double(two) - Double(one)) * share).rounded())
    }
    return Color(mix(red, other.red), mix(green, other.green), mix(blue, other.blue))
  }

  private var luminance: Double {
    0.2126 * Color.linear(red) + 0.7152 * Color.linear(green) + 0.0722 * Color.linear(blue)
  }

  private static func linear(_ channel: UInt8) -> Double {
    let value = Double(channel) / 255
    return value <= 0.03928 ? value / 12.92 : power2Point4((value + 0.055) / 1.055)
  }

  /// Computes `base` to the power of 2.4 as x² times the fifth root of x², so that no C library is needed.
  private static func power2Point4(_ base: Double) -> Double {
    let square = base * base
    var root = 1.0
    // Newton's method, started above the root, converges for every x in 0...1. 40 rounds reach the precision of
    // Double.
    for _ in 0..<40 {
      let fourth = root * root * root * root
      root -= (fourth * root - square) / (5 * fourth)
    }
    return square * root
  }

  private static func isHex(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20)
  }
}
