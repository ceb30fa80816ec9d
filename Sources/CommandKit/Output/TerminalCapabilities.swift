/// What a terminal can show, as far as that can be known.
public struct TerminalCapabilities: Sendable, Equatable {
  /// The smallest dots that can be drawn.
  public var glyphs: DotGlyphs
  /// How many colours there are.
  public var depth: ColourDepth
  /// Whether it shows more than ASCII.
  public var isUnicode: Bool
  /// Whether its font has Korean.
  public var hasHangul: Bool
  /// Whether words may have colours.
  ///
  /// A QR code always has its black and white: it could not be read without.
  public var hasTints: Bool

  /// Capabilities that are known.
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

/// Which characters stand for dots.
public enum DotGlyphs: Sendable, Equatable {
  /// `▀▄█`: two dots in a cell. Needs Unicode and a font that has them.
  case halfBlocks
  /// Coloured spaces: no dot is smaller than a cell, and no font is needed.
  case fullBlocks
  /// `##` where dark is: for terminals without colours.
  case ascii
}

/// How many colours a terminal has.
public enum ColourDepth: Sendable, Equatable {
  /// None: only light and dark, by reversing.
  case none
  /// The eight that every colour terminal has.
  case eight
  /// The palette of 256, of which themes leave the upper part alone.
  case palette
}
