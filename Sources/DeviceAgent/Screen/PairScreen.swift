import CommandKit
import RegentPlatform
import QRCode

/// Draws the pairing screen.
///
/// The result depends only on the arguments: no terminal, clock or service is used.
struct PairScreen: Sendable {
  let size: WindowSize
  let capabilities: TerminalCapabilities
  let texts: Texts

  init(size: WindowSize, capabilities: TerminalCapabilities, language: Language) {
    self.size = size
    self.capabilities = capabilities
    texts = Texts(capabilities.shown(language))
  }

  /// Draws the whole screen; `now` is in milliseconds since boot.
  func canvas(of view: PairView, now: Int64) -> Canvas {
    var canvas = Canvas(columns: size.columns, rows: size.rows, charset: capabilities.charset)
    let isRoomy = size.rows >= 22
    drawTitle(view, on: &canvas)
    if view.hasKeys { drawKeys(of: view, on: &canvas) }
    var bottom = size.rows - (view.hasKeys ? 1 : 0)
    if isRoomy || view.stage.isNumber { write(readerLine(view), on: &canvas, above: &bottom) }
    let top = isRoomy ? 2 : 0
    var area = Area(row: top, rows: max(0, bottom - top), column: 0, columns: size.columns)
    switch view.stage {
    case .choosing(let picker): draw(picker, on: &canvas, in: area)
    case .waiting(let code), .connected(let code):
      let isDrawn = drawCode(code, view, now, on: &canvas, in: area)
      if !isDrawn {
        // Screen readers cannot read letters that are made of dots, so the code is also written as text.
        if !isRoomy { write(readerLine(view), on: &canvas, above: &bottom) }
        area.rows = max(0, bottom - top)
        drawWords(of: view, now, on: &canvas, in: area)
      }
    case .number, .starting, .signedIn, .denied, .deniedAtNumber, .expired, .resting, .failed:
      drawCentred(panel(for: view, now, withPicture: false), on: &canvas, in: area)
    }
    if !capabilities.hasTints { canvas.dropTints() }
    canvas.cursor.row = min(canvas.cursor.row, canvas.rows - 1)
    canvas.cursor.column = min(canvas.cursor.column, canvas.columns - 1)
    return canvas
  }

  /// Writes, as a line of text, the code that the screen draws with dots.
  ///
  /// Puts the cursor on this line, where screen readers read.
  private func write(_ line: String?, on canvas: inout Canvas, above bottom: inout Int) {
    guard let line, bottom > 0 else { return }
    bottom -= 1
    canvas.write(line, row: bottom, column: margin, width: size.columns - 2 * margin)
    canvas.cursor = (bottom, margin)
  }

  var margin: Int { size.columns >= 60 ? 2 : 0 }
}

extension PairStage {
  /// Whether the screen shows the number for number matching, which is drawn with dots only.
  fileprivate var isNumber: Bool {
    if case .number = self { true } else { false }
  }
}

struct Area: Equatable {
  var row: Int
  var rows: Int
  var column: Int
  var columns: Int
}

extension PairScreen {
  private func drawTitle(_ view: PairView, on canvas: inout Canvas) {
    // A small screen has no room for a title.
    guard size.rows >= 22 else { return }
    let used = canvas.write(view.product, row: 0, column: margin, style: .accent)
    let title = texts[.title]
    let start = size.columns - margin - displayWidth(canvas.shown(title, in: size.columns))
    if start > margin + used + 2 { canvas.write(title, row: 0, column: start) }
  }

  private func drawKeys(of view: PairView, on canvas: inout Canvas) {
    var labels = keys(of: view).map { key, phrase in (" \(key) ", texts[phrase]) }
    var gap = 3
    func width(_ text: String) -> Int { displayWidth(canvas.shown(text, in: size.columns)) }
    func room() -> Int { labels.reduce(margin - gap) { $0 + width($1.0) + 1 + width($1.1) + gap } }
    while gap > 1, room() > size.columns { gap -= 1 }
    // The last key in the line is "quit". It stays if not all keys fit.
    while labels.count > 1, room() > size.columns { labels.remove(at: labels.count - 2) }
    var column = margin
    for (label, words) in labels {
      column += canvas.write(label, row: size.rows - 1, column: column, style: .reversed) + 1
      column += canvas.write(words, row: size.rows - 1, column: column) + gap
    }
  }

  private func keys(of view: PairView) -> [(String, Phrase)] {
    let provider: [(String, Phrase)] = view.canChooseProvider ? [("p", .keyProvider)] : []
    switch view.stage {
    case .choosing:
      return [("↑↓", .keyChoose), ("Enter", .keyTake), ("Esc", .keyBack)]
    case .signedIn: return [("q", .keyQuit)]
    case .starting: return provider + [("q", .keyQuit)]
    case .waiting, .connected, .number, .denied, .deniedAtNumber, .expired, .resting, .failed:
      return [("n", .keyNew)] + provider + [("q", .keyQuit)]
    }
  }

  /// The code or number as plain text, because screen readers and braille displays cannot read block letters.
  private func readerLine(_ view: PairView) -> String? {
    guard let code = view.stage.code else { return nil }
    if case .number(_, let number) = view.stage {
      return texts[.readerNumber, ["number": String(number), "code": code.display]]
    }
    return texts[.reader, ["code": code.display, "address": code.address]]
  }

  func drawCentred(_ panel: Panel, on canvas: inout Canvas, in area: Area) {
    let width = area.columns - 2 * margin
    let fitted = panel.squeezed(width: width, height: area.rows)
    let row = area.row + max(0, (area.rows - fitted.rows) / 2)
    fitted.draw(
      on: &canvas, row: row, column: area.column + margin, width: width, isCentred: true,
      glyphs: capabilities.glyphs)
  }
}
