/// What a terminal can display, as far as it can be detected.
public struct TerminalCapabilities: Sendable, Equatable {
  /// The smallest dots that it can draw.
  public var glyphs: DotGlyphs
  public var depth: ColourDepth
  /// Whether it displays more than ASCII.
  public var isUnicode: Bool
  /// Whether its font has Korean characters.
  public var hasHangul: Bool
  /// Whether text may be coloured.
  ///
  /// A QR code is always drawn in black and white, because scanners need the contrast.
  public var hasTints: Bool

  public init(
    glyphs: DotGlyphs = .halfBlocks, depth: ColourDepth = .palette, isUnicode: Bool = true,
    hasHangul: Bool = true, hasTints: Bool = true
  ) {
    self.glyphs = glyphs
    self.depth = depth
    self.isUnicode = isUnicode
    self.hasHangul = hasHangul
    self.hasTints = hasTints
  }
}

/// The characters that draw the dots of a QR code.
public enum DotGlyphs: Sendable, Equatable {
  /// `▀▄█`: two dots per cell. Needs Unicode and a font with these characters.
  case halfBlocks
  /// Coloured spaces: one dot per cell, with any font.
  case fullBlocks
  /// `##` for a dark dot: for terminals without colours.
  case ascii
}

/// The number of colours of a terminal.
public enum ColourDepth: Sendable, Equatable {
  /// No colours: only reverse video.
  case none
  /// The eight basic colours.
  case eight
  /// The 256-colour palette; themes do not change its upper part.
  case palette
}
