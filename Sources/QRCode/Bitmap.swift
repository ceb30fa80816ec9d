/// A black and white picture, the form between a matrix of modules and a file or a screen.
public struct Bitmap: Sendable, Equatable {
  /// Pixels in a row.
  public let width: Int
  /// Rows.
  public let height: Int
  /// Row by row, eight pixels a byte from the left, 1 is white; each row starts a byte.
  private(set) var bytes: [UInt8]

  /// An all-white picture.
  public init(width: Int, height: Int) {
    self.width = max(1, width)
    self.height = max(1, height)
    bytes = Array(repeating: 0xff, count: (self.width + 7) / 8 * self.height)
  }

  /// Whether a pixel is black; everything outside is white.
  public func isBlack(_ x: Int, _ y: Int) -> Bool {
    guard x >= 0, y >= 0, x < width, y < height else { return false }
    return bytes[y * stride + x / 8] & (0x80 >> UInt8(x % 8)) == 0
  }

  /// Blackens a rectangle, as much of it as lies in the picture.
  public mutating func blacken(x: Int, y: Int, width: Int, height: Int) {
    let columns = max(0, x)..<max(max(0, x), min(self.width, x + width))
    for row in max(0, y)..<max(max(0, y), min(self.height, y + height)) {
      for column in columns {
        bytes[row * stride + column / 8] &= ~(0x80 >> UInt8(column % 8))
      }
    }
  }

  var stride: Int { (width + 7) / 8 }
}

extension QRCode {
  /// The most pixels that a module may be wide: a picture of 40 megapixels at most.
  public static let largestScale = 32

  /// The code as a picture; `scale` is the width of a module in pixels, 1 to `largestScale`.
  public func bitmap(scale: Int = 8, quietZone: Int = QRCode.standardQuietZone) -> Bitmap {
    let scale = min(max(1, scale), Self.largestScale)
    let margin = min(max(0, quietZone), side)
    var picture = Bitmap(
      width: (side + 2 * margin) * scale, height: (side + 2 * margin) * scale)
    for y in 0..<side {
      for run in darkRuns(inRow: y) {
        picture.blacken(
          x: (run.lowerBound + margin) * scale, y: (y + margin) * scale,
          width: run.count * scale, height: scale)
      }
    }
    return picture
  }

  /// The code as a PNG file; `scale` is the width of a module in pixels, 1 to `largestScale`.
  public func png(scale: Int = 8, quietZone: Int = QRCode.standardQuietZone) -> [UInt8] {
    bitmap(scale: scale, quietZone: quietZone).png()
  }

  /// Dark modules side by side, as column ranges.
  func darkRuns(inRow y: Int) -> [Range<Int>] {
    var runs: [Range<Int>] = []
    var start: Int?
    for x in 0...side {
      switch (isDark(x, y), start) {
      case (true, nil): start = x
      case (false, .some(let first)):
        runs.append(first..<x)
        start = nil
      default: break
      }
    }
    return runs
  }
}
