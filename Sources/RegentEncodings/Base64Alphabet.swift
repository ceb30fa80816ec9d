/// One of the two base64 alphabets, with the encoder and the decoder that both share.
struct Alphabet: Sendable {
  let name: String
  private let letters: [UInt8]
  /// The 6-bit value of each byte; ``stray`` for bytes outside the alphabet.
  private let values: [UInt32]

  /// The value of a byte outside the alphabet: all bits are one.
  ///
  /// Shifted into any of the four places of a group, it sets bits above the 24 that four letters can fill.
  private static let stray = UInt32.max

  static let standard = Alphabet("base64", "+/")
  static let url = Alphabet("base64url", "-_")

  private init(_ name: String, _ lastTwo: String) {
    self.name = name
    letters = Array(
      ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + lastTwo).utf8)
    var values = [UInt32](repeating: Self.stray, count: 256)
    for (value, letter) in letters.enumerated() { values[Int(letter)] = UInt32(value) }
    self.values = values
  }

  /// Encodes bytes into an array of exactly the final size.
  ///
  /// An array that grows would leave copies of a key in freed memory.
  func encode(_ bytes: Span<UInt8>, padding: Bool) -> [UInt8] {
    let letters = letters
    let count = padding ? (bytes.count + 2) / 3 * 4 : (bytes.count * 4 + 2) / 3
    var text = [UInt8](zeros: count)
    var output = text.mutableSpan
    let whole = bytes.count / 3 * 3
    var end = 0
    for place in stride(from: 0, to: whole, by: 3) {
      let group = UInt32(bytes[place]) << 16 | UInt32(bytes[place + 1]) << 8 | UInt32(bytes[place + 2])
      output[end] = letters[Int(group >> 18)]
      output[end + 1] = letters[Int(group >> 12 & 63)]
      output[end + 2] = letters[Int(group >> 6 & 63)]
      output[end + 3] = letters[Int(group & 63)]
      end += 4
    }
    let left = bytes.count - whole
    guard left > 0 else { return text }
    let group = UInt32(bytes[whole]) << 16 | (left == 2 ? UInt32(bytes[whole + 1]) << 8 : 0)
    output[end] = letters[Int(group >> 18)]
    output[end + 1] = letters[Int(group >> 12 & 63)]
    if left == 2 { output[end + 2] = letters[Int(group >> 6 & 63)] }
    guard padding else { return text }
    for place in end + 1 + left..<count { output[place] = UInt8(ascii: "=") }
    return text
  }

  /// Decodes the letters before `end`.
  ///
  /// The caller has already checked the padding after them.
  func decode(
    _ text: Span<UInt8>, upTo end: Int, strictBits: Bool = true
  ) throws(TextError) -> [UInt8] {
    precondition(end <= text.count && values.count == 256)
    // Errors are collected and checked once after the loop, because every check of a media token decodes base64.
    var (wrong, strayBits) = (UInt32(0), UInt32(0))
    let left = end & 3
    let whole = end &- left
    // Each group of three bytes is stored as four, and the next group overwrites the fourth. The last group needs room
    // for that byte too.
    var bytes = [UInt8](zeros: whole / 4 * 3 + 4)
    var count = 0
    unsafe bytes.withUnsafeMutableBufferPointer { output in
      unsafe text.withUnsafeBytes { text in
        unsafe values.withUnsafeBufferPointer { values in
          let (letters, values, bytes) = unsafe (
            text.baseAddress, values.baseAddress.unsafelyUnwrapped, UnsafeMutableRawPointer(output.baseAddress)
          )
          guard let letters = unsafe letters, var bytes = unsafe bytes else { return }
          var place = 0
          while place < whole {
            let four = unsafe UInt32(littleEndian: letters.loadUnaligned(fromByteOffset: place, as: UInt32.self))
            let held =
              unsafe values[Int(four & 255)] << 18 | values[Int(four >> 8 & 255)] << 12
              | values[Int(four >> 16 & 255)] << 6 | values[Int(four >> 24)]
            wrong |= held
            unsafe bytes.storeBytes(of: (held << 8).bigEndian, as: UInt32.self)
            unsafe bytes += 3
            place &+= 4
          }
          count = whole / 4 * 3
          guard left > 1 else { return }
          var held: UInt32 = 0
          for place in whole..<end {
            let value = unsafe values[Int(letters.load(fromByteOffset: place, as: UInt8.self))]
            wrong |= value
            held = held << 6 | value & 63
          }
          held <<= UInt32(6 * (4 - left))
          unsafe bytes.storeBytes(of: (held << 8).bigEndian, as: UInt32.self)
          count += left - 1
          strayBits = left == 3 ? held & 0xFF : held & 0xFFFF
        }
      }
    }
    guard wrong >> 24 == 0, left != 1, strayBits == 0 || !strictBits else { throw fault(text, upTo: end) }
    bytes.removeLast(bytes.count - count)
    return bytes
  }

  /// Finds the first error in a text that the decoder has refused.
  private func fault(_ text: Span<UInt8>, upTo end: Int) -> TextError {
    for place in 0..<end where values[Int(text[place])] == Self.stray {
      let isPadding = text[place] == UInt8(ascii: "=")
      return TextError(encoding: name, problem: isPadding ? .padding : .character, offset: place)
    }
    if end & 3 == 1 { return TextError(encoding: name, problem: .length, offset: end) }
    return TextError(encoding: name, problem: .trailingBits, offset: end - 1)
  }
}
