import CommandKit

/// What was asked for with `--qr`.
enum PictureRequest: String, CaseIterable, Sendable {
  case auto, half, full, ascii, png, svg, framebuffer, none
}

extension TerminalFacts {
  /// What the terminal can show; `asked` overrules what was found out.
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

  /// The viewer's language, or English where the font has no letters for it.
  func shown(_ language: Language) -> Language {
    language == .korean && !(hasHangul && isUnicode) ? .english : language
  }
}
