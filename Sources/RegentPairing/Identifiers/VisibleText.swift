/// What of a text somebody sees.
///
/// A name of characters that show nothing is none: where it stands on a page, the line that says who asks looks as if
/// there were no such line.
public enum VisibleText {
  /// Whether a character shows nothing and is no space: it steers, joins, fills, or means nothing yet.
  public static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned: return true
    // Hangul fillers and their like are letters that show as nothing.
    default: return scalar.properties.isDefaultIgnorableCodePoint || blanks.contains(scalar)
    }
  }

  /// Symbols and letters that no property of Unicode tells from others, and whose picture is empty: the half fill space
  /// of ideographs, the pattern of Braille without a dot, the place of an object that is not there, a note's head that
  /// is none, and hieroglyphs' blanks, whole and half.
  private static let blanks: Set<Unicode.Scalar> = [
    "\u{2800}", "\u{303F}", "\u{FFFC}", "\u{13441}", "\u{13442}", "\u{1D159}",
  ]

  /// Whether at least one character is seen; a mark needs a letter to stand on.
  public static func isSeen(_ text: String) -> Bool {
    text.unicodeScalars.contains { scalar in
      guard !isHidden(scalar) else { return false }
      switch scalar.properties.generalCategory {
      case .spaceSeparator, .lineSeparator, .paragraphSeparator: return false
      case .nonspacingMark, .enclosingMark, .spacingMark: return false
      default: return true
      }
    }
  }
}
