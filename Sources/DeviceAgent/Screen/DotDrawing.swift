import CommandKit

/// A text as dots.
struct DotText {
  /// The rows from top to bottom, each of the same length; true for a dot that is drawn.
  let rows: [[Bool]]

  var width: Int { rows.first?.count ?? 0 }
  var height: Int { rows.count }
}

/// Draws square dots with cells that are twice as high as wide.
///
/// A dot of scale 1 is one column wide and half a row high. Without half-block characters, only even scales are
/// possible, or tall dots.
struct DotDrawing {
  let glyphs: DotGlyphs
  let scale: Int
  /// Whether a dot is a whole cell high, and so twice as high as wide.
  var isTall = false

  /// The number of terminal cells that this number of dots takes.
  func size(width: Int, height: Int) -> (columns: Int, rows: Int) {
    (width * scale, isTall ? height * scale : (height * scale + 1) / 2)
  }

  /// Whether the last row of letters is half empty, so that the next line needs no empty row.
  var endsWithHalfRow: Bool { !isTall && BlockFont.height * scale % 2 == 1 }

  /// Draws a grid of dots, of which `isDark` returns the colour.
  ///
  /// Cells outside of the grid stay as they are.
  func draw(
    width: Int, height: Int, on canvas: inout Canvas, row: Int, column: Int, paint: Paint,
    isDark: (Int, Int) -> Bool
  ) {
    let size = size(width: width, height: height)
    // The dots of a cell, counted in half rows.
    let halves = isTall ? 1 : 2
    for y in 0..<size.rows {
      for x in 0..<size.columns {
        let upper = isDark(x / scale, halves * y / scale)
        let lowerDot = (halves * y + halves - 1) / scale
        let lower = lowerDot < height ? isDark(x / scale, lowerDot) : false
        let cell = paint.cell(upper: upper, lower: lower, glyphs)
        canvas.put(cell, row: row + y, column: column + x)
      }
    }
  }
}

/// The colours of the dots.
enum Paint {
  /// Black dots on white, set explicitly, because a scanner must not depend on the terminal's theme.
  case paper
  /// Dots in the theme's text colour, for letters that people read.
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
    // The colours of the cells form the picture. The characters are for a viewer who copies the text.
    if glyphs == .ascii { return Cell(glyph: upper ? "#" : " ", style: upper ? dark : light) }
    // If both halves are equal, a coloured space is enough, which every font can show.
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
