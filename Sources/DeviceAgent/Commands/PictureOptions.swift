import CommandKit
import RegentPlatform

/// The options for the QR code, such as `--qr png FILE`.
enum PictureOptions {
  static let picture = Input.option(
    "qr", ValueKind<PictureRequest>.cases, default: .auto,
    "how to draw the QR code; png and svg need FILE, framebuffer draws on the console")
  static let file = Input.optionalArgument("FILE", .file, "the picture file for --qr png or --qr svg")
  static let device = Input.option(
    "framebuffer", .file, default: "/dev/fb0", "the device for --qr framebuffer")
  static let geometry = Input.option(
    "framebuffer-size", .geometry, "WIDTHxHEIGHTxBITS of the device (default: ask the device)")

  /// Where the QR code is drawn as pixels, or `.none` if it is drawn as characters.
  static func target(_ call: Invocation) throws(CommandError) -> PictureOutput.Target {
    let path = call[file]
    switch call[picture] {
    case .png, .svg:
      guard let path else {
        throw .usage(
          "--qr \(call[picture].rawValue) needs a FILE",
          hint: "add a file name: --qr \(call[picture].rawValue) code.\(call[picture].rawValue)")
      }
      return call[picture] == .png ? .png(path) : .svg(path)
    case .framebuffer:
      try refuseFile(path)
      return .framebuffer(path: call[device], call[geometry])
    case .auto, .half, .full, .ascii, .none:
      try refuseFile(path)
      return .none
    }
  }

  private static func refuseFile(_ path: String?) throws(CommandError) {
    if let path {
      throw .usage(
        "unexpected argument: \"\(path)\"", hint: "FILE works only with --qr png or --qr svg")
    }
  }
}

extension ValueKind where Value == FramebufferGeometry {
  /// The type of an option whose value is a screen size such as `1920x1080x32`: width, height and bits of a pixel.
  ///
  /// If rows have padding, a fourth number is the bytes of a row.
  static var geometry: ValueKind {
    ValueKind(
      "SIZE", show: { "\($0.width)x\($0.height)x\($0.bitsPerPixel)" },
      read: { text throws(ValueProblem) in
        let numbers = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard (3...4).contains(numbers.count), let width = numbers[0], let height = numbers[1],
          let bits = numbers[2],
          let geometry = FramebufferGeometry(
            width: width, height: height, bitsPerPixel: bits,
            stride: numbers.count == 4 ? numbers[3] ?? 0 : nil)
        else {
          throw ValueProblem("is not a size", hint: "use a form such as 1920x1080x32 (bits: 16, 24 or 32)")
        }
        return geometry
      })
  }
}
