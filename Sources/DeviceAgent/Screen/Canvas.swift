import CommandKit

/// A grid of cells for the whole screen.
///
/// Each screen is drawn on a new canvas, and ``ScreenDiff`` sends only the changes to the terminal.
struct Canvas: Sendable, Equatable {
  let columns: Int
  let rows: Int
  let charset: Charset
  private(set) var cells: [Cell]
  /// The position of the terminal's invisible cursor, which braille displays and screen readers follow.
  var cursor = (row: 0, column: 0)

  init(columns: Int, rows: Int, charset: Charset = .unicode) {
    self.columns = max(1, columns)
    self.rows = max(1, rows)
    self.charset = charset
    cells = Array(repeating: .blank, count: self.columns * self.rows)
  }

  static func == (one: Canvas, other: Canvas) -> Bool {
    one.columns == other.columns && one.rows == other.rows && one.cursor == other.cursor
      && one.cells == other.cells
  }

  subscript(row: Int, column: Int) -> Cell { cells[row * columns + column] }

  /// Removes the text colours of all cells.
  ///
  /// Cells with a background colour, such as those of the QR code, keep theirs.
  mutating func dropTints() {
    for place in cells.indices where cells[place].style.ground == nil {
      cells[place].style.ink = nil
    }
  }

  /// Writes one line of text, truncated if necessary, and returns the number of columns it took.
  ///
  /// The text may be untrusted (names of providers and viewers), so control characters are replaced here.
  @discardableResult
  mutating func write(
    _ text: String, row: Int, column: Int, style: Style = .plain, width: Int = .max
  ) -> Int {
    guard rows > row, row >= 0 else { return 0 }
    let room = min(width, columns - column)
    guard room > 0 else { return 0 }
    var place = column
    for scalar in shown(text, in: room).unicodeScalars {
      let size = displayWidth(String(scalar))
      if size == 0 {
        if place > column { addMark(scalar, row: row, before: place) }
        continue
      }
      guard place + size <= column + room else { break }
      put(Cell(glyph: scalar, style: style), row: row, column: place)
      if size == 2 { put(Cell(glyph: nil, style: style), row: row, column: place + 1) }
      place += size
    }
    return place - column
  }

  /// Sets one cell of the grid.
  ///
  /// A position outside the canvas is ignored.
  mutating func put(_ cell: Cell, row: Int, column: Int) {
    guard (0..<rows).contains(row), (0..<columns).contains(column) else { return }
    cells[row * columns + column] = cell
  }

  /// The text with the characters that this canvas can show, truncated to `room` columns.
  func shown(_ text: String, in room: Int) -> String {
    let cut = truncated(harmless(text), to: room)
    return charset == .ascii ? asciiForm(of: cut) : cut
  }

  private mutating func addMark(_ scalar: Unicode.Scalar, row: Int, before column: Int) {
    let last = row * columns + column - 1
    let owner = cells[last].glyph == nil ? last - 1 : last
    cells[owner].marks.unicodeScalars.append(scalar)
  }
}

extension Canvas {
  /// The text of one row, for tests.
  func text(row: Int) -> String {
    var text = ""
    for column in 0..<columns {
      guard let glyph = self[row, column].glyph else { continue }
      text.unicodeScalars.append(glyph)
      text += self[row, column].marks
    }
    while text.last == " " { text.removeLast() }
    return text
  }

  var lines: [String] { (0..<rows).map(text(row:)) }
}
