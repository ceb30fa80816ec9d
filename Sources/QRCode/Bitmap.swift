/// A black and white picture, from which PNG files are written.
public struct Bitmap: Sendable, Equatable {
  public let width: Int
  public let height: Int
  /// The pixels row by row, eight in each byte, the leftmost in the highest bit; 1 is white.
  ///
  /// Each row starts at a byte.
  private(set) var bytes: [UInt8]

  public init(width: Int, height: Int) {
    self.width = max(1, width)
    self.height = max(1, height)
    bytes = Array(repeating: 0xff, count: (self.width + 7) / 8 * self.height)
  }

  /// Whether a pixel is black; pixels outside the picture are white.
  public func isBlack(_ x: Int, _ y: Int) -> Bool {
    guard x >= 0, y >= 0, x < width, y < height else { return false }
    return bytes[y * stride + x / 8] & (0x80 >> UInt8(x % 8)) == 0
  }

  /// Makes the part of a rectangle that lies inside the picture black.
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
  /// The largest width of a module in pixels.
  ///
  /// It limits the largest picture to about 40 megapixels.
  public static let largestScale = 32

  /// Draws the QR code as a picture.
  ///
  /// `scale` is the width of a module in pixels, 1 to `largestScale`.
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

  /// The QR code as a PNG file.
  ///
  /// `scale` is the width of a module in pixels, 1 to `largestScale`.
  public func png(scale: Int = 8, quietZone: Int = QRCode.standardQuietZone) -> [UInt8] {
    bitmap(scale: scale, quietZone: quietZone).png()
  }

  /// The runs of adjacent dark modules in a row, as ranges of columns.
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
