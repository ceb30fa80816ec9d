/// How a code is drawn with characters.
public struct TerminalText: Sendable, Equatable {
  /// Which characters stand for modules.
  public enum Shape: Sendable, CaseIterable {
    /// `▀▄█`: one column and half a row for a module. Needs a font that has them.
    case halfBlocks
    /// `██`, or coloured spaces: two columns and one row for a module.
    case fullBlocks
    /// `##`, or coloured spaces: two columns and one row for a module, on anything.
    case ascii
  }

  /// What makes a module dark or light.
  public enum Colours: Sendable, CaseIterable {
    /// Black on white of the 256-colour palette, which themes leave alone.
    case ansi256
    /// Black on white of the eight colours that every terminal has.
    case ansi8
    /// No colours, for a pipe or a file: characters are dark modules, as on paper and light terminals.
    case plain
    /// No colours: characters are light modules, for terminals with a dark background.
    case plainInverted
  }

  /// Which characters stand for modules.
  public var shape: Shape
  /// What makes a module dark or light.
  public var colours: Colours
  /// Light modules around the square.
  public var quietZone: Int

  /// A way of drawing; the default is what most terminals show well.
  public init(
    _ shape: Shape = .halfBlocks, colours: Colours = .ansi256,
    quietZone: Int = QRCode.standardQuietZone
  ) {
    self.shape = shape
    self.colours = colours
    self.quietZone = max(0, quietZone)
  }

  /// The room that a code of that side takes, known before it is drawn.
  public func size(side: Int) -> (columns: Int, rows: Int) {
    let modules = side + 2 * quietZone
    return switch shape {
    case .halfBlocks: (modules, (modules + 1) / 2)
    case .fullBlocks, .ascii: (2 * modules, modules)
    }
  }
}

extension QRCode {
  /// The way of drawing that fits between the edges of a screen: its quiet zone gives way, down to two modules.
  ///
  /// - Returns: nothing when even that is too wide.
  public func fitted(_ text: TerminalText, columns: Int?) -> TerminalText? {
    guard let columns else { return text }
    var fitted = text
    while fitted.size(side: side).columns > columns, fitted.quietZone > 2 { fitted.quietZone -= 1 }
    return fitted.size(side: side).columns > columns ? nil : fitted
  }

  /// The code as text lines, without line ends; colours are reset at the end of each.
  public func lines(_ text: TerminalText = TerminalText()) -> [String] {
    let range = -text.quietZone..<(side + text.quietZone)
    return switch text.shape {
    case .halfBlocks:
      stride(from: range.lowerBound, to: range.upperBound, by: 2).map { y in
        halfBlockLine(y, range, text.colours)
      }
    case .fullBlocks, .ascii:
      range.map { y in wideLine(y, range, text) }
    }
  }

  /// Two rows of modules in one line; an odd last row has a light one under it.
  private func halfBlockLine(
    _ y: Int, _ range: Range<Int>, _ colours: TerminalText.Colours
  ) -> String {
    let inverted = colours == .plainInverted
    // Past the quiet zone there is nothing to paint on an inverted plain line.
    let hasLower = y + 1 < range.upperBound
    let cells = range.map { x in
      let upper = isDark(x, y) != inverted
      let lower = hasLower ? isDark(x, y + 1) != inverted : false
      return switch (upper, lower) {
      case (true, true): "█"
      case (true, false): "▀"
      case (false, true): "▄"
      case (false, false): " "
      }
    }
    return colours.start + cells.joined() + colours.end
  }

  /// One row of modules, two columns each; with colours these are spaces, so that no font is needed.
  private func wideLine(_ y: Int, _ range: Range<Int>, _ text: TerminalText) -> String {
    let colours = text.colours
    guard let dark = colours.darkGround, let light = colours.lightGround else {
      let ink = text.shape == .ascii ? "##" : "██"
      return range.map { x in isDark(x, y) != (colours == .plainInverted) ? ink : "  " }.joined()
    }
    var line = ""
    var previous: Bool?
    for x in range {
      let isDark = isDark(x, y)
      if isDark != previous { line += isDark ? dark : light }
      previous = isDark
      line += "  "
    }
    return line + colours.end
  }
}

extension TerminalText.Colours {
  fileprivate var start: String {
    switch self {
    case .ansi256: "\u{1b}[38;5;16;48;5;231m"
    case .ansi8: "\u{1b}[30;47m"
    case .plain, .plainInverted: ""
    }
  }

  fileprivate var darkGround: String? {
    switch self {
    case .ansi256: "\u{1b}[48;5;16m"
    case .ansi8: "\u{1b}[40m"
    case .plain, .plainInverted: nil
    }
  }

  fileprivate var lightGround: String? {
    switch self {
    case .ansi256: "\u{1b}[48;5;231m"
    case .ansi8: "\u{1b}[47m"
    case .plain, .plainInverted: nil
    }
  }

  fileprivate var end: String {
    switch self {
    case .ansi256, .ansi8: "\u{1b}[0m"
    case .plain, .plainInverted: ""
    }
  }
}
