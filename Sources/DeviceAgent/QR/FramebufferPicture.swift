import QRCode

/// The picture that is drawn over the middle of a framebuffer.
enum FramebufferPicture {
  /// The part of the screen's height that the picture takes; the words need the rest.
  static let share = 0.6

  /// Rows of text above or below the picture.
  static func freeRows(of rows: Int) -> Int {
    max(4, Int(Double(rows) * (1 - share) / 2))
  }

  /// The largest picture of a code for a screen of so many pixels; `nil` when not even the smallest fits.
  static func picture(of code: QRCode, width: Int, height: Int) -> Bitmap? {
    let modules = code.side + 2 * QRCode.standardQuietZone
    let room = min(width, Int(Double(height) * share))
    let scale = min(QRCode.largestScale, room / modules)
    // Below two pixels a module no camera reads it from a sofa, but one is better than none.
    guard scale >= 1 || min(width, height) >= modules else { return nil }
    return code.bitmap(scale: max(1, scale))
  }
}
