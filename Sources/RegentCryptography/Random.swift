internal import CRegentOpenSSL
internal import RegentEncodings

/// Random bytes for keys, tokens and nonces; each call uses `getrandom(2)`.
///
/// No bytes are drawn ahead. A virtual machine that is restored from a snapshot would hand out the bytes in memory
/// again, and an attacker who saw them the first time would know the session cookies of the next viewers. If the kernel
/// gives no bytes, the program stops, because keys that can be guessed are worse.
public enum Random {
  public static func bytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](zeros: count)
    unsafe bytes.withUnsafeMutableBufferPointer { buffer in unsafe fill(buffer.baseAddress, count) }
    return bytes
  }

  public static func secret(_ count: Int = 32) -> Secret {
    Secret(
      wiping: [UInt8](capacity: count) { output in
        unsafe output.withUnsafeMutableBufferPointer { buffer, filled in
          unsafe fill(buffer.baseAddress, count)
          filled = count
        }
      })
  }

  /// Makes OpenSSL read the kernel at each call too, for the keys that it makes and those of TLS.
  ///
  /// Only for Regent's own programs: the setting holds for the whole process, and a library must not change it in the
  /// program of another developer.
  public static func serveOpenSSL() {
    OpenSSLLifetime.keep()
    guard regent_random_for_openssl() == 1 else { stop(LibraryError("choose where random bytes come from")) }
  }

  /// A random token: 256 bits as base64url, which are 43 letters, digits, `-` and `_`.
  public static func token() -> String { Base64URL.encode(bytes(32)) }

  /// A uniformly distributed random number from 0 to `bound` - 1.
  public static func number(below bound: Int) -> Int {
    precondition(bound > 0, "there is no number below \(bound)")
    var pool = Pool()
    return Int(truncatingIfNeeded: pool.number(below: UInt64(bound)))
  }

  /// A random text of `length` characters, uniformly distributed over an ASCII alphabet.
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

  /// A random UUID (version 4, RFC 9562) in lower case.
  public static func uuid() -> String { text(ofUUID: bytes(16), version: 4) }

  /// A random UUID (version 8, RFC 9562) that sorts next to other UUIDs of the same moment.
  ///
  /// Rows that are written together then lie together in an index. The first five digits are the time in steps of 16
  /// milliseconds. They repeat every 4.6 hours, so a UUID reveals little about its time, and lists can still show only
  /// its beginning. The other 102 bits are random and cannot be guessed.
  public static func uuid(near milliseconds: Int64) -> String {
    let step = UInt64(bitPattern: milliseconds) >> 4
    var bytes = bytes(16)
    bytes[0] = UInt8(truncatingIfNeeded: step >> 12)
    bytes[1] = UInt8(truncatingIfNeeded: step >> 4)
    bytes[2] = UInt8(truncatingIfNeeded: step << 4) | bytes[2] & 0x0F
    return text(ofUUID: bytes, version: 8)
  }

  /// Makes a UUID (version 8, RFC 9562) of 16 bytes.
  ///
  /// Overwrites four bits of the seventh byte with the version, and two of the ninth with the variant.
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

  /// Random numbers without modulo bias.
  ///
  /// A remainder alone would make small numbers more likely. Values at the end of the range that do not make up a whole
  /// round are therefore drawn again.
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
      // The number of values at the end of the range that are drawn again: 2⁶⁴ mod bound.
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
