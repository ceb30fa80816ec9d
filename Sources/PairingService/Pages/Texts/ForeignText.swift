internal import RegentPairing

/// Text of an untrusted party, such as the name that a device gives itself, its model, or a requestor's or provider's
/// name.
///
/// An unauthenticated device can send it. The initializer removes what could deceive a reader: control and format
/// characters (among them the direction overrides U+202A to U+202E and U+2066 to U+2069, zero-width characters and soft
/// hyphens), line breaks, stacks of combining marks, and everything beyond a short length. Templates isolate the rest
/// with `<bdi>`.
package struct ForeignText: Equatable, Sendable {
  /// The cleaned text; empty when no visible character was left.
  package let text: String

  /// The default maximum length of a cleaned text in Unicode scalars.
  package static let defaultLimit = 64

  /// Cleans text of an untrusted party and cuts it to `limit` Unicode scalars; a text that was cut ends in `…`.
  package init(_ raw: String, limit: Int = ForeignText.defaultLimit) {
    var kept: [Unicode.Scalar] = []
    var marks = 0
    var isCut = false
    for scalar in raw.unicodeScalars {
      if ForeignText.isSpace(scalar) {
        // Many spaces in a row could push the text after them out of sight.
        if let last = kept.last, last != " " { kept.append(" ") }
        continue
      }
      // `isHidden` is also true for variation selectors, so they are skipped as well.
      guard !VisibleText.isHidden(scalar) else { continue }
      let isMark = ForeignText.isMark(scalar)
      marks = isMark ? marks + 1 : 0
      // Vietnamese needs two marks on a letter, so four are allowed; sixty would cover the lines above and below.
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

  /// Takes the first of these texts that has a visible character, or else the last one.
  package init(firstSeen raw: String?, _ others: String...) {
    let all = [raw].compactMap(\.self) + others
    self.init(all.first(where: VisibleText.isSeen) ?? all.last ?? "")
  }

  /// Whether the text has no visible character left.
  package var isEmpty: Bool { text.isEmpty }

  /// The first letter or digit of the text in upper case, shown in place of a missing logo.
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
