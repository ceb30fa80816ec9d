import RegentPairing

/// Text from an unauthenticated device, made fit to be kept and shown: one line, no hidden or steering characters.
///
/// A device name is shown on the page where somebody decides whether to approve: a right-to-left override or a zero
/// width joiner there lets a stranger's box look like one's own. Escaping for HTML or terminals is still the page's
/// part.
public enum CleanText {
  /// The text on one line, at most so many bytes; nothing when nothing is left that anybody sees.
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
