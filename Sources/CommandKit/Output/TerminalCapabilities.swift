/// What a terminal can display, as far as it can be detected.
public struct TerminalCapabilities: Sendable, Equatable {
  /// The smallest dots that the terminal can draw.
  public var glyphs: DotGlyphs
  public var depth: ColourDepth
  /// Whether the terminal displays more than ASCII.
  public var isUnicode: Bool
  /// Whether the terminal's font has Korean characters.
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
  /// Draws with `▀▄█`: two dots in a cell. Needs Unicode and a font with these characters.
  case halfBlocks
  /// Draws with coloured spaces: one dot in a cell, with any font.
  case fullBlocks
  /// Draws `##` for a dark dot, for terminals without colours.
  case ascii
}

/// The number of colours of a terminal.
public enum ColourDepth: Sendable, Equatable {
  /// The terminal has no colours, only reverse video.
  case none
  /// The terminal has the eight basic colours.
  case eight
  /// The terminal has the 256-colour palette. Themes do not change its upper part.
  case palette
}
