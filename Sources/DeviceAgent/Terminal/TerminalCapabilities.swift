/// What a terminal can show, as far as that can be known.
struct TerminalCapabilities: Sendable, Equatable {
  /// The smallest dots that can be drawn.
  var glyphs: DotGlyphs
  var depth: ColourDepth
  /// Whether it shows more than ASCII.
  var isUnicode: Bool
  /// Whether its font has Korean.
  var hasHangul: Bool
  /// Whether words may have colours.
  ///
  /// A QR code always has its black and white: it could not be read without.
  var hasTints: Bool

  /// TerminalCapabilities that are known.
  init(
    glyphs: DotGlyphs = .halfBlocks, depth: ColourDepth = .palette, isUnicode: Bool = true,
    hasHangul: Bool = true, hasTints: Bool = true
  ) {
    self.glyphs = glyphs
    self.depth = depth
    self.isUnicode = isUnicode
    self.hasHangul = hasHangul
    self.hasTints = hasTints
  }

  var charset: Charset { isUnicode ? .unicode : .ascii }

  /// The viewer's language, or English where the font has no letters for it.
  func shown(_ language: Language) -> Language {
    language == .korean && !(hasHangul && isUnicode) ? .english : language
  }
}
