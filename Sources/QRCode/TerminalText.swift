/// The style in which a QR code is drawn with characters.
public struct TerminalText: Sendable, Equatable {
  public enum Shape: Sendable, CaseIterable {
    /// Draws with `▀▄█`: one column and half a row for each module. The font must have these characters.
    case halfBlocks
    /// Draws with `██`, or with coloured spaces: two columns and one row for each module.
    case fullBlocks
    /// Draws with `##`, or with coloured spaces: two columns and one row for each module. Works with every font.
    case ascii
  }

  /// How the dark and light modules of a code are coloured.
  public enum Colours: Sendable, CaseIterable {
    /// Black on white from the 256-colour palette, which terminal themes do not change.
    case ansi256
    /// Black on white from the eight colours that every terminal has.
    case ansi8
    /// No colours, for a pipe or a file. The dark modules are printed, as for paper and terminals with a light
    /// background.
    case plain
    /// No colours. The light modules are printed, for terminals with a dark background.
    case plainInverted
  }

  public var shape: Shape
  public var colours: Colours
  /// The width of the light border around the code, in modules.
  public var quietZone: Int

  /// Makes a style; the defaults suit most terminals.
  public init(
    _ shape: Shape = .halfBlocks, colours: Colours = .ansi256,
    quietZone: Int = QRCode.standardQuietZone
  ) {
    self.shape = shape
    self.colours = colours
    self.quietZone = max(0, quietZone)
  }

  /// The number of columns and rows that a code of `side` modules needs.
  public func size(side: Int) -> (columns: Int, rows: Int) {
    let modules = side + 2 * quietZone
    return switch shape {
    case .halfBlocks: (modules, (modules + 1) / 2)
    case .fullBlocks, .ascii: (2 * modules, modules)
    }
  }
}

extension QRCode {
  /// The style with the light border (quiet zone) reduced until the code fits into `columns`, to two modules at least.
  ///
  /// - Returns: nil if the code is too wide even then.
  public func fitted(_ text: TerminalText, columns: Int?) -> TerminalText? {
    guard let columns else { return text }
    var fitted = text
    while fitted.size(side: side).columns > columns, fitted.quietZone > 2 { fitted.quietZone -= 1 }
    return fitted.size(side: side).columns > columns ? nil : fitted
  }

  /// The QR code as lines of text without line ends.
  ///
  /// Each line resets the colours at its end.
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

  /// Draws two rows of modules in one line; if the last row has no second row below it, that counts as light.
  private func halfBlockLine(
    _ y: Int, _ range: Range<Int>, _ colours: TerminalText.Colours
  ) -> String {
    let inverted = colours == .plainInverted
    // Inverted plain text prints light modules. Below the light border it prints nothing.
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

  /// Draws one row of modules with two columns for each module.
  ///
  /// With colours the modules are spaces, so no font is needed.
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
