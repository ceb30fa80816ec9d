internal import RegentPairing

/// Words that somebody else chose: a device's name for itself, its model, a requestor's or provider's name.
///
/// They come from an unauthenticated device. What could fool a reader is gone: control and format characters (among
/// them the direction overrides U+202A to U+202E and U+2066 to U+2069, zero-width characters, soft hyphens), line
/// breaks, towers of combining marks, and everything beyond a short length. Templates fence the rest with `<bdi>`.
package struct ForeignText: Equatable, Sendable {
  /// The harmless rest; empty when nothing visible was left.
  package let text: String

  /// How long a name may be on a page, in Unicode scalars.
  package static let defaultLimit = 64

  /// Makes words of a stranger harmless.
  ///
  /// - Parameters:
  ///   - raw: what the stranger sent.
  ///   - limit: the most Unicode scalars to keep; a longer text is cut and ends in `…`.
  package init(_ raw: String, limit: Int = ForeignText.defaultLimit) {
    var kept: [Unicode.Scalar] = []
    var marks = 0
    var isCut = false
    for scalar in raw.unicodeScalars {
      if ForeignText.isSpace(scalar) {
        // Many spaces could push what follows out of sight.
        if let last = kept.last, last != " " { kept.append(" ") }
        continue
      }
      // Variation selectors stay out too.
      guard !VisibleText.isHidden(scalar) else { continue }
      let isMark = ForeignText.isMark(scalar)
      marks = isMark ? marks + 1 : 0
      // Two marks on a letter are in use (Vietnamese); sixty of them cover the lines above and below.
      guard marks <= 4, !(isMark && kept.isEmpty) else { continue }
      guard kept.count < limit else {
        isCut = true
        break
      }
      kept.append(scalar)
    }
    while kept.last == " " { kept.removeLast() }
    if isCut { kept.append("…") }
    var text = String.UnicodeScalarView()
    text.append(contentsOf: kept)
    self.text = String(text)
  }

  /// The first of these of which something is left to show, or the last one's.
  package init(firstSeen raw: String?, _ others: String...) {
    let all = [raw].compactMap(\.self) + others
    self.init(all.first(where: VisibleText.isSeen) ?? all.last ?? "")
  }

  /// Whether nothing is left to show.
  package var isEmpty: Bool { text.isEmpty }

  /// The first letter in upper case, for a tile in place of a missing logo.
  var initial: String {
    text.first { $0.isLetter || $0.isNumber }.map { $0.uppercased() } ?? "•"
  }

  private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .spaceSeparator, .lineSeparator, .paragraphSeparator: true
    default: scalar == "\n" || scalar == "\r" || scalar == "\t"
    }
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark: true
    default: false
    }
  }
}
