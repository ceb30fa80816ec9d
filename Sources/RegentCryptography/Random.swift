internal import CRegentOpenSSL
internal import RegentEncodings

/// Randomness for keys and codes, from OpenSSL's generator, which the kernel seeds.
///
/// A generator that fails stops the program: going on with guessable keys is worse.
public enum Random {
  /// `count` random bytes.
  public static func bytes(_ count: Int) -> [UInt8] {
    [UInt8](capacity: count) { output in
      unsafe output.withUnsafeMutableBufferPointer { buffer, filled in
        unsafe fill(buffer.baseAddress, count)
        filled = count
      }
    }
  }

  /// A random secret of `count` bytes.
  public static func secret(_ count: Int = 32) -> Secret {
    Secret(wiping: bytes(count))
  }

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
  public static func uuid() -> String {
    var bytes = bytes(16)
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    var text = ""
    for (place, byte) in bytes.enumerated() {
      if place == 4 || place == 6 || place == 8 || place == 10 { text += "-" }
      text += Hex.encode([byte])
    }
    return text
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

@unsafe private func fill(_ start: UnsafeMutablePointer<UInt8>?, _ count: Int) {
  guard count > 0 else { return }
  OpenSSLLifetime.keep()
  guard let size = Int32(exactly: count), unsafe RAND_bytes(start, size) == 1 else {
    stop(LibraryError("make \(count) random bytes"))
  }
}
