/// The 64 letters of one of the two alphabets, and the work both share.
struct Alphabet: Sendable {
  let name: String
  private let letters: [UInt8]
  /// The value of each byte, ``stray`` for those outside the alphabet.
  private let values: [UInt32]

  /// All ones: in whichever of four places it stands, the group has bits that four letters cannot have.
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

  /// The letters of bytes, in an array of exactly their size: growing would leave copies of a key behind.
  func encode(_ bytes: Span<UInt8>, padding: Bool) -> [UInt8] {
    let count = padding ? (bytes.count + 2) / 3 * 4 : (bytes.count * 4 + 2) / 3
    let whole = bytes.count / 3 * 3
    return unsafe [UInt8](unsafeUninitializedCapacity: count) { output, filled in
      unsafe bytes.withUnsafeBytes { bytes in
        unsafe letters.withUnsafeBufferPointer { letters in
          let (start, letters) = unsafe (bytes.baseAddress, letters.baseAddress.unsafelyUnwrapped)
          guard let start = unsafe start, let text = UnsafeMutableRawPointer(output.baseAddress) else { return }
          var place = 0
          while place < whole {
            let group =
              unsafe UInt32(start.load(fromByteOffset: place, as: UInt8.self)) << 16
              | UInt32(start.load(fromByteOffset: place &+ 1, as: UInt8.self)) << 8
              | UInt32(start.load(fromByteOffset: place &+ 2, as: UInt8.self))
            // Four letters with one store: they come out of every token.
            let four =
              unsafe UInt32(letters[Int(group >> 18)]) | UInt32(letters[Int(group >> 12 & 63)]) << 8
              | UInt32(letters[Int(group >> 6 & 63)]) << 16 | UInt32(letters[Int(group & 63)]) << 24
            unsafe text.storeBytes(of: four.littleEndian, toByteOffset: filled, as: UInt32.self)
            filled &+= 4
            place &+= 3
          }
          guard whole < bytes.count else { return }
          // One or two bytes are left, which are two or three letters.
          let left = bytes.count &- whole
          var group = unsafe UInt32(start.load(fromByteOffset: whole, as: UInt8.self)) << 16
          if left == 2 { group |= unsafe UInt32(start.load(fromByteOffset: whole &+ 1, as: UInt8.self)) << 8 }
          for number in 0..<(padding ? 4 : left &+ 1) {
            let letter = unsafe number <= left ? letters[Int(group >> 18 & 63)] : UInt8(ascii: "=")
            unsafe text.storeBytes(of: letter, toByteOffset: filled, as: UInt8.self)
            filled &+= 1
            group <<= 6
          }
        }
      }
    }
  }

  /// The bytes that the letters before `end` stand for; what follows is padding that the caller has checked.
  func decode(
    _ text: Span<UInt8>, upTo end: Int, strictBits: Bool = true
  ) throws(TextError) -> [UInt8] {
    precondition(end <= text.count && values.count == 256)
    // What is wrong is looked for once, at the end: a media token's verifier comes by here for every call.
    var (wrong, strayBits) = (UInt32(0), UInt32(0))
    let left = end & 3
    let whole = end &- left
    // A group is stored as four bytes, of which the next one overwrites the last: there is room for that one, too.
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: whole / 4 * 3 + 4) { output, count in
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
    return bytes
  }

  /// What is wrong first with a text that is not to be decoded.
  private func fault(_ text: Span<UInt8>, upTo end: Int) -> TextError {
    for place in 0..<end where values[Int(text[place])] == Self.stray {
      let isPadding = text[place] == UInt8(ascii: "=")
      return TextError(encoding: name, problem: isPadding ? .padding : .character, offset: place)
    }
    if end & 3 == 1 { return TextError(encoding: name, problem: .length, offset: end) }
    return TextError(encoding: name, problem: .trailingBits, offset: end - 1)
  }
}
