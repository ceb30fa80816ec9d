/// The colour of a requestor on the phone's pages: any colour it asks for, used so that everybody can read it.
///
/// It reaches the page as a style sheet of its own, because the policy forbids styles inside the page. The address
/// holds nothing but the colour, so the sheet needs no store and may be kept for ever.
package struct AccentColor: Hashable, Sendable {
  private let color: Color

  /// Reads `#1f6feb` or `1f6feb`.
  ///
  /// - Parameter hex: six hexadecimal digits; anything else gives nil, and the page keeps its own colour.
  package init?(hex: String) {
    guard let color = Color(hex: hex) else { return nil }
    self.color = color
  }

  /// Where the style sheet of this colour is: `/static/accent/1/1f6feb.css`.
  package var path: SafePath { AccentColor.folder.step("\(color.hex).css") }

  /// The colour whose style sheet is at a path, nil when the path is none of them.
  ///
  /// - Parameter path: the path of a request.
  package init?(path: String) {
    let start = "\(AccentColor.folder.text)/"
    guard path.hasPrefix(start), path.hasSuffix(".css") else { return nil }
    let hex = path.dropFirst(start.count).dropLast(".css".count)
    // One address for one colour: no upper case, no sign.
    guard let color = Color(hex: String(hex)), color.hex == hex else { return nil }
    self.color = color
  }

  /// The style sheet, with its headers.
  package var styleSheet: StaticFiles.File {
    let dark = shades(.dark).css
    let css = ":root{\(shades(.light).css)}@media(prefers-color-scheme:dark){:root{\(dark)}}\n"
    return StaticFiles.File(
      bytes: Array(css.utf8),
      headers: [("Content-Type", "text/css; charset=utf-8"), StaticFiles.keptForEver])
  }

  /// The number is the version of the rules below: change it with them, browsers keep the old sheets.
  private static let folder = StaticFiles.folder.step("accent").step("1")

  /// What one colour scheme needs.
  struct Shades {
    /// Links and edges: at least 4.5 : 1 against everything a page puts behind them.
    let line: Color
    /// The main button, as near to the requestor's colour as possible.
    let fill: Color
    /// The words on the main button: at least 4.5 : 1.
    let onFill: Color

    var css: String { "--accent:#\(line.hex);--fill:#\(fill.hex);--on-fill:#\(onFill.hex)" }
  }

  /// The two colour schemes and what they put behind an accent; the same values are in `phone.css`.
  enum Scheme: CaseIterable {
    case light, dark

    var backgrounds: [Color] {
      switch self {
      case .light: [Color(0xF5, 0xF4, 0xF0), Color(0xFF, 0xFF, 0xFF), Color(0xEC, 0xEA, 0xE4)]
      case .dark: [Color(0x14, 0x15, 0x18), Color(0x1E, 0x1F, 0x24), Color(0x2A, 0x2B, 0x31)]
      }
    }

    /// Towards this the colour moves until it can be read.
    fileprivate var away: Color { self == .light ? .black : .white }
  }

  func shades(_ scheme: Scheme) -> Shades {
    Shades(
      line: moved(towards: scheme.away, until: 4.5, against: scheme.backgrounds),
      fill: color,
      // Against any colour one of the two has at least 4.58 : 1.
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
