internal import CRegentOpenSSL
internal import RegentEncodings

/// Randomness for keys, tokens and nonces: `getrandom(2)` at each call.
///
/// Nothing is drawn ahead. A virtual machine that returns to a snapshot would hand out again what memory held, and an
/// attacker who saw the bytes the first time would know the session cookies of the next viewers. A kernel that gives no
/// bytes stops the program: going on with guessable keys is worse.
public enum Random {
  /// `count` random bytes.
  public static func bytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](zeros: count)
    unsafe bytes.withUnsafeMutableBufferPointer { buffer in unsafe fill(buffer.baseAddress, count) }
    return bytes
  }

  /// A random secret of `count` bytes.
  public static func secret(_ count: Int = 32) -> Secret {
    Secret(
      wiping: [UInt8](capacity: count) { output in
        unsafe output.withUnsafeMutableBufferPointer { buffer, filled in
          unsafe fill(buffer.baseAddress, count)
          filled = count
        }
      })
  }

  /// Has OpenSSL draw from the kernel at each call as well, for its keys and those of TLS.
  ///
  /// For our programs: the setting is the whole process's, which a library does not change in another's program.
  public static func serveOpenSSL() {
    OpenSSLLifetime.keep()
    guard regent_random_for_openssl() == 1 else { stop(LibraryError("choose where random bytes come from")) }
  }

  /// 256 random bits as text: 43 letters, digits, `-` and `_`.
  public static func token() -> String { Base64URL.encode(bytes(32)) }

  /// A random number below `bound`, each with the same chance.
  public static func number(below bound: Int) -> Int {
    precondition(bound > 0, "there is no number below \(bound)")
    var pool = Pool()
    return Int(truncatingIfNeeded: pool.number(below: UInt64(bound)))
  }

  /// `length` characters of an ASCII alphabet, each with the same chance.
  public static func text(_ length: Int, from alphabet: String) -> String {
    let letters = Array(alphabet.utf8)
    precondition((1...128).contains(letters.count), "an alphabet has 1 to 128 letters")
    precondition(letters.allSatisfy { $0 < 0x80 }, "an alphabet is ASCII")
    var pool = Pool()
    let text = (0..<length).map { _ in
      letters[Int(pool.number(below: UInt64(letters.count)))]
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// A random UUID (version 4, RFC 9562) in its usual form, lower case.
  public static func uuid() -> String { text(ofUUID: bytes(16), version: 4) }

  /// A random UUID (version 8, RFC 9562) that is next to those of the same moment when they are sorted.
  ///
  /// In an index, rows that are written together then lie together. Its first five digits are the time in steps of 16
  /// milliseconds and come round every 4.6 hours, so it says little of the time and lists can still shorten it to its
  /// beginning; the other 102 bits are random, which nobody guesses.
  public static func uuid(near milliseconds: Int64) -> String {
    let step = UInt64(bitPattern: milliseconds) >> 4
    var bytes = bytes(16)
    bytes[0] = UInt8(truncatingIfNeeded: step >> 12)
    bytes[1] = UInt8(truncatingIfNeeded: step >> 4)
    bytes[2] = UInt8(truncatingIfNeeded: step << 4) | bytes[2] & 0x0F
    return text(ofUUID: bytes, version: 8)
  }

  /// 16 bytes as a UUID (version 8, RFC 9562): four bits of the seventh byte and two of the ninth say so.
  public static func uuid(custom bytes: [UInt8]) -> String {
    precondition(bytes.count == 16, "a UUID has 16 bytes")
    return text(ofUUID: bytes, version: 8)
  }

  private static func text(ofUUID bytes: [UInt8], version: UInt8) -> String {
    unsafe String(unsafeUninitializedCapacity: 36) { text in
      var end = 0
      for (place, byte) in zip(0..<16, bytes) {
        if place == 4 || place == 6 || place == 8 || place == 10 {
          unsafe text[end] = UInt8(ascii: "-")
          end += 1
        }
        let byte = place == 6 ? byte & 0x0F | version << 4 : place == 8 ? byte & 0x3F | 0x80 : byte
        unsafe text[end] = Hex.digit(byte >> 4)
        unsafe text[end + 1] = Hex.digit(byte & 15)
        end += 2
      }
      return end
    }
  }

  /// Choosing by remainder alone would favour small numbers (modulo bias): values at the top of the range that do
  /// not make up a whole round are drawn again.
  private struct Pool {
    private var bytes: [UInt8] = []

    mutating func number(below bound: UInt64) -> UInt64 {
      if bound <= 256 {
        let rounds = 256 - 256 % bound
        while true {
          if bytes.isEmpty { bytes = Random.bytes(32) }
          let byte = UInt64(bytes.removeLast())
          if byte < rounds { return byte % bound }
        }
      }
      // The number of values that do not make up a whole round, 2⁶⁴ mod bound.
      let left = (0 &- bound) % bound
      while true {
        let value = Random.bytes(8).reduce(0) { $0 << 8 | UInt64($1) }
        if value >= left { return value % bound }
      }
    }
  }
}

@unsafe func fill(_ start: UnsafeMutablePointer<UInt8>?, _ count: Int) {
  guard count > 0 else { return }
  guard let size = Int32(exactly: count), unsafe regent_random_bytes(start, size) == 1 else {
    stop(LibraryError("make \(count) random bytes"))
  }
}
