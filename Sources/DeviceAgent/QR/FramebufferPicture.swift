import QRCode

/// Places the QR code over the middle of a framebuffer.
enum FramebufferPicture {
  /// The part of the screen's height that the picture may take.
  ///
  /// The remaining part is for the text.
  static let share = 0.6

  /// The number of text rows above or below the picture.
  static func freeRows(of rows: Int) -> Int {
    max(4, Int(Double(rows) * (1 - share) / 2))
  }

  /// The largest picture of a QR code for a screen of this size in pixels, or `nil` if not even the smallest fits.
  static func picture(of code: QRCode, width: Int, height: Int) -> Bitmap? {
    let modules = code.side + 2 * QRCode.standardQuietZone
    let room = min(width, Int(Double(height) * share))
    let scale = min(QRCode.largestScale, room / modules)
    // With one pixel a module, a camera cannot read the code from a distance, but it is better than no code.
    guard scale >= 1 || min(width, height) >= modules else { return nil }
    return code.bitmap(scale: max(1, scale))
  }
}
