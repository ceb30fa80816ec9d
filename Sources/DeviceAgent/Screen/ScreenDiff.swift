import CommandKit

/// Computes the bytes that turn one screen into another.
///
/// The bytes are few and written at once, so that the screen does not flicker.
struct ScreenDiff {
  let depth: ColourDepth
  private var bytes: [UInt8] = []
  private var style = Style.plain
  private var place: (row: Int, column: Int)?

  private init(depth: ColourDepth) { self.depth = depth }

  /// The bytes that turn the old screen into the new one.
  ///
  /// Redraws the whole screen if there is no old one of the same size.
  ///
  /// - Returns: no bytes if nothing has changed.
  static func bytes(from old: Canvas?, to new: Canvas, depth: ColourDepth) -> [UInt8] {
    var diff = ScreenDiff(depth: depth)
    var base = Canvas(columns: new.columns, rows: new.rows, charset: new.charset)
    if let old, old.columns == new.columns, old.rows == new.rows {
      base = old
    } else {
      diff.bytes += "\u{1b}[0m\u{1b}[2J".utf8
    }
    for row in 0..<new.rows {
      for column in 0..<new.columns where new[row, column] != base[row, column] {
        diff.bridge(to: (row, column), over: new)
        diff.draw(new[row, column], row: row, column: column)
      }
    }
    guard !diff.bytes.isEmpty || base.cursor != new.cursor else { return [] }
    diff.finish(at: new.cursor)
    return diff.bytes
  }

  private mutating func draw(_ cell: Cell, row: Int, column: Int) {
    // This is the right half of a wide character, which the left half has drawn.
    guard let glyph = cell.glyph else { return }
    if place.map({ $0 != (row, column) }) ?? true { move(row, column) }
    if cell.style != style { change(to: cell.style) }
    bytes += String(glyph).utf8
    bytes += cell.marks.utf8
    // Terminals differ in the width of wide and unknown characters, so the cursor is positioned again after them.
    place = isOneColumnEverywhere(glyph) && cell.marks.isEmpty ? (row, column + 1) : nil
  }

  /// Writes a few unchanged cells again, to reach a position without a cursor movement.
  ///
  /// This takes fewer bytes, and screen readers get whole words.
  private mutating func bridge(to target: (row: Int, column: Int), over canvas: Canvas) {
    guard let from = place, from.row == target.row,
      (1...Self.longestBridge).contains(target.column - from.column)
    else { return }
    let cells = (from.column..<target.column).map { canvas[target.row, $0] }
    guard cells.allSatisfy({ $0.style == style && $0.marks.isEmpty && $0.isPlainASCII }) else {
      return
    }
    for cell in cells { draw(cell, row: target.row, column: place?.column ?? 0) }
  }

  private static let longestBridge = 5

  private func isOneColumnEverywhere(_ glyph: Unicode.Scalar) -> Bool {
    glyph.value < 0x300 || (0x2580...0x259f).contains(glyph.value)
  }

  private mutating func move(_ row: Int, _ column: Int) {
    bytes += "\u{1b}[\(row + 1);\(column + 1)H".utf8
  }

  private mutating func change(to new: Style) {
    bytes += "\u{1b}[\((["0"] + codes(of: new)).joined(separator: ";"))m".utf8
    style = new
  }

  private mutating func finish(at cursor: (row: Int, column: Int)) {
    if style != .plain { change(to: .plain) }
    move(cursor.row, cursor.column)
  }

  private func codes(of style: Style) -> [String] {
    var codes: [String] = []
    if style.isBold { codes.append("1") }
    // Faint text is not used with eight colours, because some consoles show it black on black.
    if style.isFaint, depth == .palette { codes.append("2") }
    if style.isReversed { codes.append("7") }
    switch depth {
    case .none:
      // On a terminal without colours, a white background is shown as reversed text.
      if style.ground == .white { codes.append("7") }
    case .eight:
      if let ink = style.ink { codes.append("3\(ink.basic)") }
      if let ground = style.ground { codes.append("4\(ground.basic)") }
    case .palette:
      if let ink = style.ink { codes.append(ink.palette(3)) }
      if let ground = style.ground { codes.append(ground.palette(4)) }
    }
    return codes
  }
}

extension Cell {
  fileprivate var isPlainASCII: Bool { glyph.map { $0.value < 0x80 } ?? false }
}

extension Colour {
  fileprivate var basic: Int {
    switch self {
    case .black: 0
    case .red: 1
    case .green: 2
    case .yellow: 3
    case .cyan: 6
    case .white: 7
    }
  }

  /// The code of a colour in the terminal's palette.
  ///
  /// Black and white must be exact for a scanner; the other colours may follow the theme.
  fileprivate func palette(_ side: Int) -> String {
    switch self {
    case .black: "\(side)8;5;16"
    case .white: "\(side)8;5;231"
    case .red, .green, .yellow, .cyan: "\(side)\(basic)"
    }
  }
}
