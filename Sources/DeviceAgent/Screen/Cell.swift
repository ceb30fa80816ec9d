/// A colour that is told to the terminal, whatever its theme is.
enum Colour: Sendable, Equatable {
  case black
  case white
  case red
  case green
  case yellow
  case cyan
}

/// How a character is shown; without colours it takes those of the terminal's theme, dark or light.
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

/// One place on the screen.
struct Cell: Sendable, Equatable {
  /// What stands there, one scalar; `nil` for the second half of a character two columns wide.
  var glyph: Unicode.Scalar?
  /// Accents that belong to the glyph: rare, so most cells have none.
  var marks = ""
  var style = Style.plain

  static let blank = Cell(glyph: " ")
}

/// Which characters can be drawn.
enum Charset: Sendable, Equatable {
  /// Only ASCII: the locale is not UTF-8, or the keyboard and screen are not in Unicode mode.
  case ascii
  /// Whatever the font has.
  case unicode
}
