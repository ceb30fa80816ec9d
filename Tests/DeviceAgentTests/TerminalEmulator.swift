import CommandKit
import RegentPlatform
import QRCode
import TestSupport

@testable import DeviceAgent

/// The terminal's theme, which gives the default colours.
enum Ground: CaseIterable {
  case dark
  case light
}

/// A minimal terminal emulator with cursor movement, colours and clearing, to see what a program shows.
struct TerminalEmulator {
  private struct Spot: Equatable {
    var glyph: Unicode.Scalar? = " "
    var marks = ""
    /// nil: the theme's own colour; true: black.
    var ink: Bool?
    var ground: Bool?
    var isReversed = false
  }

  private let columns: Int
  private let rows: Int
  private var spots: [Spot]
  private var pen = Spot()
  private var row = 0
  private var column = 0

  init(_ size: WindowSize) {
    columns = size.columns
    rows = size.rows
    spots = Array(repeating: Spot(), count: columns * rows)
  }

  /// A screen as `tmux capture-pane -e` prints it.
  init(_ size: WindowSize, captured text: String) throws {
    self.init(size)
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    where index < size.rows {
      (row, column) = (index, 0)
      try show(Array(line.utf8))
    }
  }

  mutating func show(_ bytes: [UInt8]) throws {
    var rest = Substring(String(decoding: bytes, as: UTF8.self)).unicodeScalars[...]
    while let scalar = rest.popFirst() {
      guard scalar == "\u{1b}" else {
        write(scalar)
        continue
      }
      guard rest.popFirst() == "[" else { throw TestSupportError("not a control sequence") }
      let parameters = String(rest.prefix { !$0.properties.isAlphabetic })
      rest = rest.dropFirst(parameters.unicodeScalars.count)
      let numbers = parameters.split(separator: ";").compactMap { Int($0) }
      switch rest.popFirst() {
      case "H": (row, column) = ((numbers.first ?? 1) - 1, (numbers.dropFirst().first ?? 1) - 1)
      case "J": spots = Array(repeating: Spot(), count: spots.count)
      case "m": try obey(numbers.isEmpty ? [0] : numbers)
      case let other: throw TestSupportError("unexpected sequence \(parameters) \(other ?? "?")")
      }
    }
  }

  private mutating func write(_ scalar: Unicode.Scalar) {
    let width = displayWidth(String(scalar))
    guard width > 0 else {
      let before = spots[row * columns + column - 1].glyph == nil ? 2 : 1
      spots[row * columns + column - before].marks.unicodeScalars.append(scalar)
      return
    }
    // As on a real terminal, overwriting half of a wide character clears its other half.
    let place = row * columns + column
    if spots[place].glyph == nil, column > 0 { spots[place - 1] = Spot() }
    pen.glyph = scalar
    pen.marks = ""
    spots[place] = pen
    if width == 2, column + 1 < columns {
      spots[place + 1] = pen
      spots[place + 1].glyph = nil
    }
    column += width
    if column < columns, spots[row * columns + column].glyph == nil {
      spots[row * columns + column] = Spot()
    }
  }

  private mutating func obey(_ numbers: [Int]) throws {
    var rest = numbers[...]
    while let code = rest.popFirst() {
      switch code {
      case 0: pen = Spot()
      case 1, 2, 22, 31...36: break
      case 7: pen.isReversed = true
      case 27: pen.isReversed = false
      case 30: pen.ink = true
      case 37: pen.ink = false
      case 39: pen.ink = nil
      case 40: pen.ground = true
      case 47: pen.ground = false
      case 49: pen.ground = nil
      case 38, 48:
        guard rest.popFirst() == 5, let colour = rest.popFirst(), colour == 16 || colour == 231
        else { throw TestSupportError("unexpected colour in \(numbers)") }
        if code == 38 { pen.ink = colour == 16 } else { pen.ground = colour == 16 }
      default: throw TestSupportError("unexpected code \(code)")
      }
    }
  }

  /// Whether both screens look the same, wherever their cursors are.
  func shows(sameAs other: TerminalEmulator) -> Bool { spots == other.spots }

  /// The text of each line.
  var lines: [String] {
    (0..<rows).map { row in
      var text = ""
      for spot in spots[row * columns..<(row + 1) * columns] {
        guard let glyph = spot.glyph else { continue }
        text.unicodeScalars.append(glyph)
        text += spot.marks
      }
      while text.last == " " { text.removeLast() }
      return text
    }
  }

  /// The screen as a picture with cells of 4 × 8 pixels, without letters.
  func picture(on ground: Ground) -> Bitmap {
    let cell = (width: 4, height: 8)
    var picture = Bitmap(width: columns * cell.width, height: rows * cell.height)
    for row in 0..<rows {
      for column in 0..<columns {
        let spot = spots[row * columns + column]
        let dark = ground == .dark
        var (ink, paper) = (spot.ink ?? !dark, spot.ground ?? dark)
        if spot.isReversed { swap(&ink, &paper) }
        let (upper, lower): (Bool, Bool) =
          switch spot.glyph {
          case "█", "#": (ink, ink)
          case "▀": (ink, paper)
          case "▄": (paper, ink)
          default: (paper, paper)
          }
        for (half, isBlack) in [upper, lower].enumerated() where isBlack {
          picture.blacken(
            x: column * cell.width, y: row * cell.height + half * cell.height / 2,
            width: cell.width, height: cell.height / 2)
        }
      }
    }
    return picture
  }
}
