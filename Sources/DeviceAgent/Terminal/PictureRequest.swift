import CommandKit

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
