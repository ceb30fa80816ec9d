import RegentPairing

/// Cleans text from an unauthenticated device for storage and display: one line, without hidden or control characters.
///
/// The approval page shows the device's name. With a right-to-left override or a zero-width joiner, an attacker's box
/// could look like the viewer's own. Pages must still escape the text for HTML or a terminal.
public enum CleanText {
  /// Returns the text on one line, cut to `longest` bytes, or `nil` if nothing visible remains.
  public static func line(_ text: String, longest: Int = 256) -> String? {
    var out = ""
    var size = 0
    var pendingSpace = false
    for scalar in text.unicodeScalars {
      guard !scalar.isSpace else {
        pendingSpace = !out.isEmpty
        continue
      }
      guard scalar.isShown else { continue }
      let needed = UTF8.width(scalar) + (pendingSpace ? 1 : 0)
      guard size + needed <= longest else { break }
      if pendingSpace { out.unicodeScalars.append(" ") }
      out.unicodeScalars.append(scalar)
      size += needed
      pendingSpace = false
    }
    return VisibleText.isSeen(out) ? out : nil
  }
}

extension Unicode.Scalar {
  fileprivate var isSpace: Bool {
    switch properties.generalCategory {
    case .spaceSeparator, .lineSeparator, .paragraphSeparator: true
    default: value == 0x09 || value == 0x0A || value == 0x0D
    }
  }

  fileprivate var isShown: Bool {
    switch properties.generalCategory {
    case .control, .format, .surrogate, .unassigned, .privateUse: false
    default: true
    }
  }
}
