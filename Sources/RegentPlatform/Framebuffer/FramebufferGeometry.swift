import CRegentLinux
import Glibc

/// The layout of a framebuffer's pixels in memory.
public struct FramebufferGeometry: Equatable, Sendable {
  /// The number of visible pixels in a row.
  public let width: Int
  /// The number of visible rows.
  public let height: Int
  public let bitsPerPixel: Int
  /// The number of bytes from the start of one row to the start of the next.
  public let stride: Int
  /// The offset of the first visible pixel, in bytes.
  public let start: Int
  public let white: [UInt8]
  public let black: [UInt8]

  /// Creates a simple layout, in which white has all bits set; nil for sizes that no screen has.
  ///
  /// - Parameters:
  ///   - width: pixels in a row.
  ///   - height: rows.
  ///   - bitsPerPixel: 16, 24 or 32.
  ///   - stride: bytes from one row to the next; nil means that rows are contiguous.
  public init?(width: Int, height: Int, bitsPerPixel: Int, stride: Int? = nil) {
    let bytes = bitsPerPixel / 8
    let stride = stride ?? width * bytes
    guard (1...32_768).contains(width), (1...32_768).contains(height),
      [16, 24, 32].contains(bitsPerPixel), stride >= width * bytes, stride <= 1 << 20
    else { return nil }
    self.width = width
    self.height = height
    self.bitsPerPixel = bitsPerPixel
    self.stride = stride
    start = 0
    white = [UInt8](repeating: 0xff, count: bytes)
    // The fourth byte of a pixel is the opacity, or unused.
    black = bytes == 4 ? [0, 0, 0, 0xff] : [UInt8](repeating: 0, count: bytes)
  }

  /// Reads the layout of a framebuffer from the kernel.
  ///
  /// - Parameters:
  ///   - number: the open device.
  ///   - path: its path, for the error.
  /// - Throws: `SystemError`: `ENOTTY` when it is no framebuffer, `EOPNOTSUPP` when its pixel format is not supported.
  public init(of number: CInt, path: String) throws(SystemError) {
    var variable = fb_var_screeninfo()
    var fixed = fb_fix_screeninfo()
    try systemCall("ask for the size of", on: path) {
      unsafe ioctl(number, UInt(FBIOGET_VSCREENINFO), &variable)
    }
    try systemCall("ask for the layout of", on: path) {
      unsafe ioctl(number, UInt(FBIOGET_FSCREENINFO), &fixed)
    }
    let bytes = Int(variable.bits_per_pixel) / 8
    let stride = Int(fixed.line_length)
    guard (1...4).contains(bytes), variable.bits_per_pixel % 8 == 0, fixed.type == 0, stride > 0,
      variable.xres > 0, variable.yres > 0
    else {
      throw SystemError(operation: "draw on", subject: path, code: EOPNOTSUPP)
    }
    width = Int(variable.xres)
    height = Int(variable.yres)
    bitsPerPixel = Int(variable.bits_per_pixel)
    self.stride = stride
    start = Int(variable.yoffset) * stride + Int(variable.xoffset) * bytes
    let isPalette = bytes == 1 && fixed.visual != UInt32(FB_VISUAL_TRUECOLOR)
    let opaque = variable.transp.mask
    // In the console's palette, colour 15 is white.
    let whiteBits =
      isPalette ? 15 : variable.red.mask | variable.green.mask | variable.blue.mask | opaque
    white = littleEndian(whiteBits, bytes)
    black = littleEndian(isPalette ? 0 : opaque, bytes)
  }
}

extension fb_bitfield {
  fileprivate var mask: UInt32 {
    guard length > 0, length <= 32, offset < 32 else { return 0 }
    return UInt32(truncatingIfNeeded: (UInt64(1) << UInt64(length)) - 1) << offset
  }
}

private func littleEndian(_ value: UInt32, _ bytes: Int) -> [UInt8] {
  (0..<bytes).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }
}
