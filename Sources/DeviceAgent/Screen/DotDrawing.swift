import CommandKit

/// Dots of equal size on a screen of cells, which are twice as high as wide.
///
/// A dot of scale 1 is one column wide and half a row high. Without half blocks only even scales can be drawn.
struct DotDrawing {
  let glyphs: DotGlyphs
  let scale: Int

  /// The cells that so many dots take.
  func size(width: Int, height: Int) -> (columns: Int, rows: Int) {
    (width * scale, (height * scale + 1) / 2)
  }

  /// Draws dots; `isDark` is asked for each, and nothing outside is painted.
  func draw(
    width: Int, height: Int, on canvas: inout Canvas, row: Int, column: Int, paint: Paint,
    isDark: (Int, Int) -> Bool
  ) {
    let size = size(width: width, height: height)
    for y in 0..<size.rows {
      for x in 0..<size.columns {
        let upper = isDark(x / scale, 2 * y / scale)
        let lowerDot = (2 * y + 1) / scale
        let lower = lowerDot < height ? isDark(x / scale, lowerDot) : false
        let cell = paint.cell(upper: upper, lower: lower, glyphs)
        canvas.put(cell, row: row + y, column: column + x)
      }
    }
  }
}

/// What makes dots visible.
enum Paint {
  /// Black on white, said explicitly: a scanner must not depend on the terminal's theme.
  case paper
  /// The theme's own text colour, for letters that people read.
  case ink(Style)

  fileprivate func cell(upper: Bool, lower: Bool, _ glyphs: DotGlyphs) -> Cell {
    switch self {
    case .paper: paperCell(upper, lower, glyphs)
    case .ink(let style): inkCell(upper, lower, glyphs, style)
    }
  }

  private func paperCell(_ upper: Bool, _ lower: Bool, _ glyphs: DotGlyphs) -> Cell {
    let dark = Style(ink: .black, ground: .black)
    let light = Style(ink: .black, ground: .white)
    // The colours make it solid; the characters stay when somebody copies the text.
    if glyphs == .ascii { return Cell(glyph: upper ? "#" : " ", style: upper ? dark : light) }
    // Equal halves need no glyph: a coloured space is drawn right by every font.
    if upper == lower { return Cell(glyph: " ", style: upper ? dark : light) }
    return Cell(glyph: upper ? "▀" : "▄", style: light)
  }

  private func inkCell(_ upper: Bool, _ lower: Bool, _ glyphs: DotGlyphs, _ style: Style) -> Cell {
    switch (glyphs, upper, lower) {
    case (_, false, false): return .blank
    case (.halfBlocks, true, true): return Cell(glyph: "█", style: style)
    case (.halfBlocks, true, false): return Cell(glyph: "▀", style: style)
    case (.halfBlocks, false, true): return Cell(glyph: "▄", style: style)
    case (.ascii, _, _): return Cell(glyph: "#", style: style)
    case (.fullBlocks, _, _):
      var reversed = style
      reversed.isReversed = true
      return Cell(glyph: " ", style: reversed)
    }
  }
}
