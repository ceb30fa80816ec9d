import CommandKit
import RegentPlatform

/// How to draw the QR code: the value of the option `--qr`.
enum PictureRequest: String, CaseIterable, Sendable {
  case auto, half, full, ascii, png, svg, framebuffer, none
}

extension TerminalFacts {
  /// The terminal's capabilities for drawing the QR code.
  ///
  /// `asked` overrides what was detected.
  func capabilities(asked: PictureRequest) -> TerminalCapabilities {
    var capabilities = capabilities
    switch asked {
    case .half: capabilities.glyphs = .halfBlocks
    case .full: capabilities.glyphs = .fullBlocks
    case .ascii: capabilities.glyphs = .ascii
    case .auto, .png, .svg, .framebuffer, .none: break
    }
    return capabilities
  }
}

extension TerminalCapabilities {
  var charset: Charset { isUnicode ? .unicode : .ascii }

  /// The viewer's language, or English if the terminal cannot show the letters of that language.
  func shown(_ language: Language) -> Language {
    language == .korean && !(hasHangul && isUnicode) ? .english : language
  }
}

extension TerminalFacts {
  /// Whether a QR code has no room on this console: its font has no half blocks, and it has too few rows of cells.
  ///
  /// `TERM=linux` alone does not count, because a remote session from another machine's console has it, too.
  ///
  /// - Parameters:
  ///   - size: the size of the console; nil if it is unknown.
  ///   - isNamed: whether the user has named the framebuffer.
  /// - Returns: true if only the framebuffer can show the code.
  func needsFramebuffer(_ size: WindowSize?, isNamed: Bool) -> Bool {
    guard console != nil || isNamed && type == "linux", capabilities.glyphs != .halfBlocks else { return false }
    // A code of 29 modules with the smallest border has 33, of one row and two columns each.
    return size.map { $0.rows < 36 || $0.columns < 96 } ?? true
  }
}
