import Glibc

/// A screen on which single pixels are drawn, such as `/dev/fb0`.
public struct Framebuffer: ~Copyable, Sendable {
  public let geometry: FramebufferGeometry
  private let device: FileDescriptor
  private let path: String

  /// Opens a framebuffer.
  ///
  /// - Parameters:
  ///   - path: the device, or a regular file if `geometry` is given.
  ///   - geometry: the pixel layout; nil asks the kernel.
  /// - Throws: `SystemError`.
  public init(path: String, geometry: FramebufferGeometry? = nil) throws(SystemError) {
    let device = try FileDescriptor.open(path, O_RDWR | O_NOCTTY | O_NONBLOCK)
    let number = device.number
    self.geometry = try Framebuffer.layout(of: number, path: path, given: geometry)
    self.device = device
    self.path = path
  }

  private static func layout(
    of number: CInt, path: String, given: FramebufferGeometry?
  ) throws(SystemError) -> FramebufferGeometry {
    if let given { return given }
    return try FramebufferGeometry(of: number, path: path)
  }

  /// The previous content of a part of the screen, to restore it later.
  public struct SavedArea: Sendable {
    fileprivate let rows: [(offset: Int, bytes: [UInt8])]
  }

  /// Draws a black and white picture in the middle of the screen, cut off at the edges.
  ///
  /// - Parameters:
  ///   - width: its width in pixels.
  ///   - height: its height in pixels.
  ///   - isBlack: called for each pixel.
  /// - Returns: the content that the picture covers, for `restore`.
  /// - Throws: `SystemError`.
  @discardableResult
  public func drawCentred(
    width: Int, height: Int, isBlack: (_ x: Int, _ y: Int) -> Bool
  ) throws(SystemError) -> SavedArea {
    let columns = min(width, geometry.width)
    let rows = min(height, geometry.height)
    let left = (geometry.width - columns) / 2
    let top = (geometry.height - rows) / 2
    let cut = (x: (width - columns) / 2, y: (height - rows) / 2)
    var saved: [(offset: Int, bytes: [UInt8])] = []
    for y in 0..<rows {
      var line: [UInt8] = []
      line.reserveCapacity(columns * geometry.white.count)
      for x in 0..<columns {
        line += isBlack(x + cut.x, y + cut.y) ? geometry.black : geometry.white
      }
      let offset =
        geometry.start + (top + y) * geometry.stride + left * geometry.white.count
      saved.append((offset, try read(line.count, at: offset)))
      try write(line, at: offset)
    }
    return SavedArea(rows: saved)
  }

  /// Restores what a picture has covered.
  ///
  /// `saved` is the result of `drawCentred`.
  public func restore(_ saved: SavedArea) throws(SystemError) {
    for row in saved.rows { try write(row.bytes, at: row.offset) }
  }

  private func read(_ count: Int, at offset: Int) throws(SystemError) -> [UInt8] {
    let number = device.number
    var bytes = [UInt8](repeating: 0, count: count)
    // If a file is shorter than the area, the missing pixels count as black.
    try systemCall("read", on: path) { unsafe pread(number, &bytes, count, offset) }
    return bytes
  }

  private func write(_ bytes: [UInt8], at offset: Int) throws(SystemError) {
    let number = device.number
    var done = 0
    while done < bytes.count {
      let start = done
      let count = try systemCall("draw on", on: path) {
        unsafe bytes.withUnsafeBytes { buffer in
          unsafe pwrite(
            number, buffer.baseAddress.map { unsafe $0 + start }, buffer.count - start,
            offset + start)
        }
      }
      // Writing past the end of a framebuffer returns 0 each time, so the loop would never end.
      guard count > 0 else {
        throw SystemError(operation: "draw on", subject: path, code: ENOSPC)
      }
      done += count
    }
  }
}
