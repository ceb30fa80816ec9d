import CommandKit

/// A font of five by seven dots, for codes and numbers that can be read from a distance.
enum BlockFont {
  static let width = 5
  static let height = 7
  /// The empty dots between two letters.
  static let gap = 1

  /// The dots of a character as seven rows, in which bit 4 is the leftmost dot.
  ///
  /// `nil` for a character that no code or number contains.
  static func rows(of character: Character) -> [UInt8]? {
    glyphs[character]
  }

  /// The width of a text in dots.
  static func width(of text: String) -> Int {
    text.isEmpty ? 0 : text.reduce(-gap) { $0 + advance(of: $1) + gap }
  }

  static func text(_ text: String) -> DotText { DotText(rows: (0..<height).map { dots(of: text, row: $0) }) }

  /// The dots of a text in one row; true for a dot that is drawn.
  static func dots(of text: String, row: Int) -> [Bool] {
    var dots: [Bool] = []
    for character in text {
      if !dots.isEmpty { dots += Array(repeating: false, count: gap) }
      let width = advance(of: character)
      let bits = rows(of: character)?[row] ?? 0
      dots += (0..<width).map { bits & (1 << UInt8(width - 1 - $0)) != 0 }
    }
    return dots
  }

  /// The width of a character and the gap after it, in dots.
  ///
  /// The dash is narrower than the other characters.
  private static func advance(of character: Character) -> Int {
    character == "-" ? 3 : width
  }

  private static let glyphs: [Character: [UInt8]] = [
    "B": [0b11110, 0b10001, 0b10001, 0b11110, 0b10001, 0b10001, 0b11110],
    "C": [0b01110, 0b10001, 0b10000, 0b10000, 0b10000, 0b10001, 0b01110],
    "D": [0b11110, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b11110],
    "F": [0b11111, 0b10000, 0b10000, 0b11110, 0b10000, 0b10000, 0b10000],
    "G": [0b01110, 0b10001, 0b10000, 0b10111, 0b10001, 0b10001, 0b01110],
    "H": [0b10001, 0b10001, 0b10001, 0b11111, 0b10001, 0b10001, 0b10001],
    "J": [0b00111, 0b00010, 0b00010, 0b00010, 0b00010, 0b10010, 0b01100],
    "K": [0b10001, 0b10010, 0b10100, 0b11000, 0b10100, 0b10010, 0b10001],
    "L": [0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b11111],
    "M": [0b10001, 0b11011, 0b10101, 0b10101, 0b10001, 0b10001, 0b10001],
    "N": [0b10001, 0b11001, 0b11001, 0b10101, 0b10011, 0b10011, 0b10001],
    "P": [0b11110, 0b10001, 0b10001, 0b11110, 0b10000, 0b10000, 0b10000],
    "Q": [0b01110, 0b10001, 0b10001, 0b10001, 0b10101, 0b10010, 0b01101],
    "R": [0b11110, 0b10001, 0b10001, 0b11110, 0b10100, 0b10010, 0b10001],
    "S": [0b01111, 0b10000, 0b10000, 0b01110, 0b00001, 0b00001, 0b11110],
    "T": [0b11111, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100],
    "V": [0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b01010, 0b00100],
    "W": [0b10001, 0b10001, 0b10001, 0b10101, 0b10101, 0b11011, 0b10001],
    "X": [0b10001, 0b10001, 0b01010, 0b00100, 0b01010, 0b10001, 0b10001],
    "Z": [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b10000, 0b11111],
    "-": [0b000, 0b000, 0b000, 0b111, 0b000, 0b000, 0b000],
    "0": [0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110],
    "1": [0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110],
    "2": [0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111],
    "3": [0b11111, 0b00010, 0b00100, 0b00010, 0b00001, 0b10001, 0b01110],
    "4": [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010],
    "5": [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110],
    "6": [0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110],
    "7": [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000],
    "8": [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110],
    "9": [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100],
  ]
}
