internal import CQREncode
internal import Glibc
internal import RegentPlatform

/// Makes the modules of a QR code with libqrencode.
///
/// No other file calls the library.
enum Encoding {
  struct Encoded {
    let version: Int
    let side: Int
    let modules: [Bool]
  }

  /// Encodes a text as a QR code.
  ///
  /// `version` is the smallest allowed size, 0 for the smallest that fits.
  static func encode(
    _ text: String, level: QRCode.Level, version: Int
  ) throws(QRCodeError) -> Encoded {
    let bytes = Array(text.utf8)
    guard !bytes.isEmpty else { throw .emptyText }
    let request = Request(
      bytes: bytes, level: QRecLevel(UInt32(level.rawValue)), version: Int32(version))
    let (code, reason) = unsafe attemptToGet { unsafe request.run() }
    guard let code = unsafe code else {
      throw reason == ENOMEM ? .outOfMemory : .tooLong(bytes: bytes.count, level: level)
    }
    defer { unsafe QRcode_free(code) }
    let side = unsafe Int(code.pointee.width)
    guard let data = unsafe code.pointee.data else { throw .outOfMemory }
    // Bit 0 of each byte is the colour of a module. The other bits are the kind of the module.
    let modules = unsafe UnsafeBufferPointer(start: data, count: side * side).map { $0 & 1 == 1 }
    return unsafe Encoded(version: Int(code.pointee.version), side: side, modules: modules)
  }
}

private struct Request {
  // The ECI number of UTF-8. Without it, readers guess the character set, and some show Korean text as Japanese.
  static let utf8: UInt32 = 26

  let bytes: [UInt8]
  let level: QRecLevel
  let version: Int32

  func run() -> UnsafeMutablePointer<QRcode>? {
    if bytes.contains(where: { $0 >= 0x80 }) { return unsafe encodeUnicode() }
    // A zero byte would end the C string early and drop the rest of the text.
    if bytes.contains(0) {
      return unsafe QRcode_encodeData(Int32(clamping: bytes.count), bytes, version, level)
    }
    // Splits the text into numeric, alphanumeric and byte segments so that it needs the least space.
    let string = bytes.map { CChar(truncatingIfNeeded: $0) } + [0]
    return unsafe QRcode_encodeString(string, version, level, QR_MODE_8, 1)
  }

  private func encodeUnicode() -> UnsafeMutablePointer<QRcode>? {
    guard let input = unsafe QRinput_new2(version, level) else { return nil }
    defer { unsafe QRinput_free(input) }
    guard unsafe QRinput_appendECIheader(input, Self.utf8) == 0,
      unsafe QRinput_append(input, QR_MODE_8, Int32(clamping: bytes.count), bytes) == 0
    else { return nil }
    return unsafe QRcode_encodeInput(input)
  }
}
