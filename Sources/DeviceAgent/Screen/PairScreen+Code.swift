import CommandKit
import RegentPlatform
import QRCode

/// The positions of the QR code and of the text beside it.
struct CodeLayout {
  var picture: Area?
  var drawing: DotDrawing
  var quietZone: Int
  var words: Area
  var panel: Panel.Fitted
  var isCentred: Bool
}

extension PairScreen {
  /// Draws the QR code and the text.
  ///
  /// Draws nothing and returns false if there is no room for the code.
  func drawCode(
    _ code: ShownCode, _ view: PairView, _ now: Int64, on canvas: inout Canvas, in area: Area
  ) -> Bool {
    let panel = panel(for: view, now, withPicture: true)
    guard view.picture == .characters, let symbol = try? QRCode(code.link),
      let layout = layout(side: symbol.side, panel, in: area), let place = layout.picture
    else { return false }
    let zone = layout.quietZone
    let modules = symbol.side + 2 * zone
    layout.drawing.draw(
      width: modules, height: modules, on: &canvas, row: place.row, column: place.column,
      paint: .paper
    ) { x, y in symbol.isDark(x - zone, y - zone) }
    layout.panel.draw(
      on: &canvas, row: layout.words.row, column: layout.words.column,
      width: layout.words.columns, isCentred: layout.isCentred, glyphs: capabilities.glyphs)
    return true
  }

  /// Draws only the text.
  ///
  /// A framebuffer picture covers the middle of the screen, so the text then stays below it.
  func drawWords(of view: PairView, _ now: Int64, on canvas: inout Canvas, in area: Area) {
    let panel = panel(for: view, now, withPicture: false)
    guard view.picture == .framebuffer else {
      drawCentred(panel, on: &canvas, in: area)
      return
    }
    let height = FramebufferPicture.freeRows(of: size.rows) - 2
    let low = Area(
      row: max(area.row, area.row + area.rows - height), rows: min(area.rows, height),
      column: area.column, columns: area.columns)
    drawCentred(panel, on: &canvas, in: low)
  }

  /// Chooses the largest QR code that leaves room for the text, which is beside it, or below it on a narrow screen.
  ///
  /// Large letters for the code have priority over a larger picture, and any picture has priority over large letters.
  func layout(side: Int, _ panel: Panel, in area: Area) -> CodeLayout? {
    for compression in [Panel.Compression.generous, .compact, .anything] {
      for place in [besides, above] {
        for scale in stride(from: 6, through: 1, by: -1)
        where capabilities.glyphs == .halfBlocks || scale % 2 == 0 {
          for zone in [QRCode.standardQuietZone, 3, 2] {
            let drawing = DotDrawing(glyphs: capabilities.glyphs, scale: scale)
            let size = drawing.size(width: side + 2 * zone, height: side + 2 * zone)
            guard size.rows <= area.rows, size.columns <= area.columns else { continue }
            if var layout = place(size, panel, area, compression, drawing) {
              layout.quietZone = zone
              return layout
            }
          }
        }
      }
    }
    return nil
  }

  private typealias Size = (columns: Int, rows: Int)

  private func besides(
    _ size: Size, _ panel: Panel, _ area: Area, _ compression: Panel.Compression, _ drawing: DotDrawing
  ) -> CodeLayout? {
    let gap = 3
    let width = area.columns - size.columns - 2 * margin - gap
    // A text that is narrower than this has less than half a sentence on a line and is hard to read.
    guard width >= 24 else { return nil }
    guard let fitted = panel.fitted(width: width, height: area.rows, compression) else {
      return nil
    }
    let picture = Area(
      row: area.row + (area.rows - size.rows) / 2, rows: size.rows, column: area.column + margin,
      columns: size.columns)
    let words = Area(
      row: area.row + (area.rows - fitted.rows) / 2, rows: fitted.rows,
      column: picture.column + size.columns + gap, columns: width)
    return CodeLayout(
      picture: picture, drawing: drawing, quietZone: 0, words: words, panel: fitted,
      isCentred: false)
  }

  private func above(
    _ size: Size, _ panel: Panel, _ area: Area, _ compression: Panel.Compression, _ drawing: DotDrawing
  ) -> CodeLayout? {
    let width = area.columns - 2 * margin
    guard
      let fitted = panel.fitted(
        width: width, height: area.rows - size.rows, compression)
    else { return nil }
    let spare = area.rows - size.rows - fitted.rows
    let picture = Area(
      row: area.row + spare / 3, rows: size.rows,
      column: area.column + (area.columns - size.columns) / 2, columns: size.columns)
    let words = Area(
      row: picture.row + size.rows + (spare > 0 ? (spare + 2) / 3 : 0), rows: fitted.rows,
      column: area.column + margin, columns: width)
    return CodeLayout(
      picture: picture, drawing: drawing, quietZone: 0, words: words, panel: fitted,
      isCentred: true)
  }
}
