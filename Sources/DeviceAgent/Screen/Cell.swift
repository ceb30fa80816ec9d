/// A colour that is set explicitly, independent of the terminal's theme.
enum Colour: Sendable, Equatable {
  case black
  case white
  case red
  case green
  case yellow
  case cyan
}

/// The appearance of a character.
///
/// Without colours it uses those of the terminal's theme, which may be dark or light.
struct Style: Sendable, Equatable {
  var ink: Colour?
  var ground: Colour?
  var isBold = false
  var isFaint = false
  var isReversed = false

  static let plain = Style()
  static let bold = Style(isBold: true)
  static let faint = Style(isFaint: true)
  static let reversed = Style(isReversed: true)
  static let good = Style(ink: .green, isBold: true)
  static let bad = Style(ink: .red, isBold: true)
  static let warning = Style(ink: .yellow, isBold: true)
  static let accent = Style(ink: .cyan, isBold: true)
}

/// A character position on the screen.
struct Cell: Sendable, Equatable {
  /// The character, or `nil` for the right half of a character that is two columns wide.
  var glyph: Unicode.Scalar?
  /// Combining marks of the character, usually none.
  var marks = ""
  var style = Style.plain

  static let blank = Cell(glyph: " ")
}

/// The characters that the terminal can show.
enum Charset: Sendable, Equatable {
  /// The terminal can show only ASCII, because the locale is not UTF-8 or the console is not in Unicode mode.
  case ascii
  /// The terminal can show every character of its font.
  case unicode
}
