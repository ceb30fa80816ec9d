/// Tells text that a reader can see from invisible characters.
///
/// A client could choose a name of invisible characters. The page that names the app which asks for access would then
/// show an empty name.
public enum VisibleText {
  /// Whether the character is invisible and not a space: control, format, filler and unassigned characters.
  public static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned: return true
    // Hangul fillers and similar characters are letters, but display as nothing.
    default: return scalar.properties.isDefaultIgnorableCodePoint || blanks.contains(scalar)
    }
  }

  /// Blank characters that no Unicode property identifies: the Braille pattern without dots (2800), the ideographic
  /// half fill space (303F), the object replacement character (FFFC), two blank hieroglyphs (13441, 13442) and the
  /// null note head (1D159).
  private static let blanks: Set<Unicode.Scalar> = [
    "\u{2800}", "\u{303F}", "\u{FFFC}", "\u{13441}", "\u{13442}", "\u{1D159}",
  ]

  /// Whether the text has at least one visible character.
  ///
  /// A combining mark alone does not count.
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
