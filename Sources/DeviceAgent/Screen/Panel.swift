import CommandKit

/// The text beside or below the QR code, from top to bottom.
struct Panel {
  enum Block {
    /// A paragraph of the panel. Paragraphs of importance 0 are dropped first if there is too little room.
    case text(String, Style, importance: Int)
    /// An empty line of the panel, if there is room.
    case gap
    /// The code or a number, drawn as large as possible.
    case large(String)
    /// The address, drawn large on a console without half blocks if there is room, for there is no QR code to scan.
    case address(String)
    /// The remaining time of the code as a bar, with a label.
    case bar(Double, String)
  }

  var blocks: [Block] = []
  let glyphs: DotGlyphs

  /// The panel's lines, ready to be drawn.
  struct Fitted {
    fileprivate(set) var pieces: [Piece] = []
    var rows: Int { pieces.reduce(0) { $0 + $1.rows } }
  }

  enum Piece {
    case line(String, Style)
    case empty
    case dots(DotText, DotDrawing)
    case bar(Double, String, width: Int)

    var rows: Int {
      switch self {
      case .line, .empty, .bar: 1
      case .dots(let text, let drawing):
        drawing.size(width: text.width, height: text.height).rows
      }
    }
  }

  /// How much of the panel may be dropped to make it fit.
  enum Compression: Sendable {
    /// Drops hardly anything: large letters and nearly all text are kept.
    case generous
    /// Allows normal letters for the code, but keeps the text about the current state.
    case compact
    /// Drops everything that is not indispensable.
    case anything

    fileprivate var steps: [(plain: Bool, importance: Int)] {
      switch self {
      case .generous: [(false, 0), (false, 1)]
      case .compact: [(false, 0), (false, 1), (false, 2), (true, 0), (true, 1), (true, 2)]
      case .anything: Compression.compact.steps + [(true, 3)]
      }
    }
  }

  /// Arranges all blocks of the panel as large as the room allows.
  ///
  /// If they do not fit, drops the least important ones.
  func fitted(width: Int, height: Int, _ compression: Compression) -> Fitted? {
    for (plain, importance) in compression.steps {
      for way in ways(width: width, plain: plain) {
        for hasGaps in [true, false] {
          let fitted = arrange(width, way, hasGaps: hasGaps, importance)
          if fitted.rows <= height { return fitted }
        }
      }
    }
    return nil
  }

  /// Arranges the blocks of the panel as compactly as possible, and cuts what still does not fit.
  func squeezed(width: Int, height: Int) -> Fitted {
    if let fitted = fitted(width: width, height: height, .anything) { return fitted }
    var fitted = arrange(width, .plain, hasGaps: false, 3)
    fitted.pieces = Array(fitted.pieces.prefix(max(0, height)))
    return fitted
  }

  /// A way to write a code: in large letters of dots, in one or two lines, or as plain text.
  private enum Way {
    case dots(DotDrawing, inTwoLines: Bool)
    case plain
  }

  private func ways(width: Int, plain: Bool) -> [Way] {
    let codes = blocks.compactMap { if case .large(let text) = $0 { text } else { nil } }
    guard !plain, let code = codes.first, code.allSatisfy({ BlockFont.rows(of: $0) != nil }) else {
      return plain || codes.isEmpty ? [.plain] : []
    }
    var ways: [Way] = []
    for scale in [4, 3, 2, 1] where glyphs == .halfBlocks || scale % 2 == 0 {
      let drawing = DotDrawing(glyphs: glyphs, scale: scale)
      for inTwoLines in [false, true] {
        let parts = inTwoLines ? halves(of: code) : [code]
        let widest = parts.map { BlockFont.width(of: $0) * scale }.max() ?? 0
        if widest <= width, !inTwoLines || parts.count == 2 {
          ways.append(.dots(drawing, inTwoLines: inTwoLines))
        }
      }
    }
    if let tall, BlockFont.width(of: code) <= width { ways.append(.dots(tall, inTwoLines: false)) }
    return ways
  }

  /// Dots of one cell, for consoles without half blocks.
  private var tall: DotDrawing? {
    glyphs == .halfBlocks ? nil : DotDrawing(glyphs: glyphs, scale: 1, isTall: true)
  }

  private func arrange(_ width: Int, _ way: Way, hasGaps: Bool, _ importance: Int) -> Fitted {
    var fitted = Fitted()
    for block in blocks {
      switch block {
      case .text(let text, let style, let own):
        guard own >= importance else { continue }
        fitted.pieces += wrapped(text, to: width).map { .line($0, style) }
      case .gap:
        if hasGaps { fitted.pieces.append(.empty) }
      case .address(let address):
        if case .dots = way, let tall, let lines = AddressFont.lines(of: address, width: width) {
          for line in lines { fitted.pieces += [.dots(line, tall), .empty] }
        } else {
          fitted.pieces += wrapped(address, to: width).map { .line($0, .accent) }
        }
      case .bar(let fraction, let label):
        if importance < 3 { fitted.pieces.append(.bar(fraction, label, width: width)) }
      case .large(let code):
        switch way {
        case .plain:
          let spaced = code.map(String.init).joined(separator: " ")
          let text = displayWidth(spaced) <= width ? spaced : code
          fitted.pieces.append(.line(text, .bold))
        case .dots(let drawing, let inTwoLines):
          let parts = inTwoLines ? halves(of: code) : [code]
          for (index, part) in parts.enumerated() {
            if index > 0, hasGaps || !drawing.endsWithHalfRow { fitted.pieces.append(.empty) }
            fitted.pieces.append(.dots(BlockFont.text(part), drawing))
          }
        }
      }
    }
    return fitted
  }

  /// Splits a code into `XXXX-` and `XXXX`.
  private func halves(of code: String) -> [String] {
    guard let dash = code.firstIndex(of: "-") else { return [code] }
    return [String(code[...dash]), String(code[code.index(after: dash)...])]
  }
}

extension Panel.Fitted {
  /// Draws the lines of the panel.
  ///
  /// With `isCentred`, each line is centred in the width.
  func draw(
    on canvas: inout Canvas, row: Int, column: Int, width: Int, isCentred: Bool, glyphs: DotGlyphs
  ) {
    var row = row
    for piece in pieces {
      let used = min(width, piece.columns(on: canvas, width))
      let start = isCentred ? column + (width - used) / 2 : column
      switch piece {
      case .empty: break
      case .line(let text, let style):
        canvas.write(text, row: row, column: start, style: style, width: width)
      case .dots(let text, let drawing):
        drawing.draw(
          width: text.width, height: text.height, on: &canvas, row: row, column: start, paint: .ink(.bold)
        ) { x, y in text.rows[y][x] }
      case .bar(let fraction, let label, let width):
        drawBar(fraction, label, min(width, 44), on: &canvas, row: row, column: start, glyphs)
      }
      row += piece.rows
    }
  }

  private func drawBar(
    _ fraction: Double, _ label: String, _ width: Int, on canvas: inout Canvas, row: Int,
    column: Int, _ glyphs: DotGlyphs
  ) {
    let words = displayWidth(canvas.shown(label, in: width))
    let length = max(0, width - words - 1)
    let full = Int((fraction * Double(length)).rounded(.up))
    for place in 0..<length {
      let isFull = place < full
      let cell =
        switch glyphs {
        case .halfBlocks: Cell(glyph: isFull ? "█" : "░")
        case .fullBlocks:
          isFull ? Cell(glyph: " ", style: .reversed) : Cell(glyph: "-", style: .faint)
        case .ascii: Cell(glyph: isFull ? "#" : "-")
        }
      canvas.put(cell, row: row, column: column + place)
    }
    canvas.write(label, row: row, column: column + length + 1, width: words)
  }
}

extension Panel.Piece {
  fileprivate func columns(on canvas: Canvas, _ width: Int) -> Int {
    switch self {
    case .empty: 0
    case .line(let text, _): displayWidth(canvas.shown(text, in: width))
    case .dots(let text, let drawing):
      drawing.size(width: text.width, height: text.height).columns
    case .bar(_, _, let width): min(width, 44)
    }
  }
}
