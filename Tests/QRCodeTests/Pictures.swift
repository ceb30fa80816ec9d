import QRCode
import TestSupport

// Turns drawings into pictures, which zbar reads like a scanner.

/// Draws the strokes of our own SVG path, four pixels for a unit.
///
/// It supports no other SVG.
func rasterise(svg: String) throws -> Bitmap {
  let scale = 4
  guard let width = svg.between("viewBox=\"0 0 ", " ").flatMap({ Int($0) }),
    let path = svg.between("<path stroke=\"#000\" d=\"", "\"")
  else { throw TestSupportError("no path in \(svg.prefix(200))") }
  var picture = Bitmap(width: width * scale, height: width * scale)
  for stroke in path.split(separator: "M") {
    let parts = stroke.split(separator: "h")
    let start = parts[0].split(separator: " ")
    guard parts.count == 2, start.count == 2, start[1].hasSuffix(".5"), let x = Int(start[0]),
      let y = Int(start[1].dropLast(2)), let length = Int(parts[1])
    else { throw TestSupportError("not a stroke: \(stroke)") }
    picture.blacken(x: x * scale, y: y * scale, width: length * scale, height: scale)
  }
  return picture
}

/// The colours of a terminal before a program changes them.
enum Ground: CaseIterable {
  case dark
  case light
}

/// Draws terminal lines with 4 × 8 pixels for a cell and a margin around the text.
func rasterise(terminal lines: [String], on ground: Ground) throws -> Bitmap {
  let cell = (width: 4, height: 8)
  let columns = (lines.map { withoutEscapes($0).count }.max() ?? 0) + 4
  let width = columns * cell.width
  let height = (lines.count + 2) * cell.height
  var picture = Bitmap(width: width, height: height)
  var pen = Pen(ground: ground)
  func fill(_ x: Int, _ y: Int, _ rows: Range<Int>, isBlack: Bool) {
    guard isBlack else { return }
    picture.blacken(
      x: x * cell.width, y: y * cell.height + rows.lowerBound, width: cell.width,
      height: rows.count)
  }
  let emptyLine = String(repeating: " ", count: columns)
  for (y, line) in ([emptyLine] + lines + [emptyLine]).enumerated() {
    var text = y == 0 || y == lines.count + 1 ? Substring(line) : "  " + Substring(line)
    var x = 0
    while let character = text.first {
      text.removeFirst()
      if character == "\u{1b}" {
        guard let end = text.firstIndex(of: "m") else { throw TestSupportError("bad escape") }
        try pen.obey(text[text.index(after: text.startIndex)..<end])
        text = text[text.index(after: end)...]
        continue
      }
      let (upper, lower): (Bool, Bool) =
        switch character {
        case "█", "#": (pen.ink, pen.ink)
        case "▀": (pen.ink, pen.ground)
        case "▄": (pen.ground, pen.ink)
        case " ": (pen.ground, pen.ground)
        default: throw TestSupportError("unexpected \(character)")
        }
      fill(x, y, 0..<cell.height / 2, isBlack: upper)
      fill(x, y, cell.height / 2..<cell.height, isBlack: lower)
      x += 1
    }
    for rest in x..<max(x, columns) { fill(rest, y, 0..<cell.height, isBlack: pen.ground) }
  }
  return picture
}

/// The current colours; `true` is black.
private struct Pen {
  let start: (ink: Bool, ground: Bool)
  var ink: Bool
  var ground: Bool

  init(ground: Ground) {
    start = ground == .dark ? (ink: false, ground: true) : (ink: true, ground: false)
    (ink, self.ground) = start
  }

  mutating func obey(_ codes: Substring) throws {
    var rest = codes.split(separator: ";").compactMap { Int($0) }[...]
    while let code = rest.popFirst() {
      switch code {
      case 0: (ink, ground) = start
      case 30: ink = true
      case 40: ground = true
      case 47: ground = false
      case 38, 48:
        guard rest.popFirst() == 5, let colour = rest.popFirst(), colour == 16 || colour == 231
        else { throw TestSupportError("unexpected colour in \(codes)") }
        if code == 38 { ink = colour == 16 } else { ground = colour == 16 }
      default: throw TestSupportError("unexpected code \(code)")
      }
    }
  }
}

private func withoutEscapes(_ line: String) -> String {
  line.split(separator: "\u{1b}", omittingEmptySubsequences: false).enumerated().map {
    index, part in
    index == 0 ? part : part.drop { $0 != "m" }.dropFirst()
  }.joined()
}

extension String {
  fileprivate func between(_ start: String, _ end: String) -> String? {
    guard let first = ranges(of: start).first else { return nil }
    let rest = self[first.upperBound...]
    return rest.ranges(of: end).first.map { String(rest[..<$0.lowerBound]) }
  }
}
