/// A requestor's colour on the phone's pages, adapted so that text stays readable whatever colour the requestor
/// chose.
///
/// A page gets it as a separate style sheet, because the content security policy forbids inline styles. The address
/// of the style sheet contains the colour, so the service stores nothing and browsers may cache it for a year.
package struct AccentColor: Hashable, Sendable {
  private let color: Color

  /// Parses a colour such as `#1f6feb` or `1f6feb`; nil for other text.
  ///
  /// Without a colour the page keeps its default colour.
  package init?(hex: String) {
    guard let color = Color(hex: hex) else { return nil }
    self.color = color
  }

  /// The path of this colour's style sheet: `/static/accent/1/1f6feb.css`.
  package var path: SafePath { AccentColor.folder.step("\(color.hex).css") }

  /// Parses the colour in a request path such as `/static/accent/1/1f6feb.css`; nil for any other path.
  package init?(path: String) {
    let start = "\(AccentColor.folder.text)/"
    guard path.hasPrefix(start), path.hasSuffix(".css") else { return nil }
    let hex = path.dropFirst(start.count).dropLast(".css".count)
    // Upper case and signs are refused, so that each colour has exactly one address.
    guard let color = Color(hex: String(hex)), color.hex == hex else { return nil }
    self.color = color
  }

  package var styleSheet: StaticFiles.File {
    let dark = shades(.dark).css
    let css = ":root{\(shades(.light).css)}@media(prefers-color-scheme:dark){:root{\(dark)}}\n"
    return StaticFiles.File(
      bytes: Array(css.utf8),
      headers: [("Content-Type", "text/css; charset=utf-8"), StaticFiles.keptForEver])
  }

  /// The folder of the style sheets.
  ///
  /// Its last part is the version of the rules below.
  ///
  /// Increase the version when the rules change, because browsers cache the old style sheets.
  private static let folder = StaticFiles.folder.step("accent").step("1")

  /// The colours that the style sheet sets for one colour scheme.
  struct Shades {
    /// The colour of links and edges: contrast of at least 4.5 : 1 with every background of the pages.
    let line: Color
    /// The colour of the main button: the requestor's colour unchanged.
    let fill: Color
    /// The text colour of the main button: contrast of at least 4.5 : 1.
    let onFill: Color

    var css: String { "--accent:#\(line.hex);--fill:#\(fill.hex);--on-fill:#\(onFill.hex)" }
  }

  /// The two colour schemes and their backgrounds; `phone.css` has the same values.
  enum Scheme: CaseIterable {
    case light, dark

    var backgrounds: [Color] {
      switch self {
      case .light: [Color(0xF5, 0xF4, 0xF0), Color(0xFF, 0xFF, 0xFF), Color(0xEC, 0xEA, 0xE4)]
      case .dark: [Color(0x14, 0x15, 0x18), Color(0x1E, 0x1F, 0x24), Color(0x2A, 0x2B, 0x31)]
      }
    }

    /// The colour towards which an accent is mixed until it is readable.
    fileprivate var away: Color { self == .light ? .black : .white }
  }

  func shades(_ scheme: Scheme) -> Shades {
    Shades(
      line: moved(towards: scheme.away, until: 4.5, against: scheme.backgrounds),
      fill: color,
      // Against every colour, white or black has a contrast of at least 4.58 : 1.
      onFill: color.contrast(with: .white) >= color.contrast(with: .black) ? .white : .black)
  }

  private func moved(towards end: Color, until ratio: Double, against others: [Color]) -> Color {
    for step in 0...50 {
      let candidate = color.mixed(with: end, Double(step) / 50)
      if others.allSatisfy({ candidate.contrast(with: $0) >= ratio }) { return candidate }
    }
    return end
  }
}
