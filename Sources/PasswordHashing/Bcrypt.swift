internal import CCrypt
internal import Glibc
internal import RegentCryptography

/// bcrypt, run on the calling thread.
enum Bcrypt {
  /// bcrypt uses only the first 72 bytes of a password, in every program.
  static let longestPassword = 72
  static let saltLength = 22
  static let hashLength = 31
  private static let letters = Array("./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

  /// Whether all bytes are letters of bcrypt's own base64 alphabet.
  static func isText(_ bytes: some Sequence<UInt8>) -> Bool { bytes.allSatisfy(letters.contains) }

  /// Whether the two unused bits of a hash's last letter are zero.
  ///
  /// The 31 letters have 186 bits, and a hash has 184.
  static func isWhole(_ hash: [UInt8]) -> Bool {
    hash.last.flatMap(letters.firstIndex)?.isMultiple(of: 4) == true
  }

  static func randomText(_ count: Int) -> [UInt8] {
    Random.bytes(count).map { letters[Int($0) % letters.count] }
  }

  /// Returns the bcrypt hash as 31 letters.
  ///
  /// `setting` is for example `$2b$12$` followed by 22 letters of salt. It fails only when there is not enough memory.
  static func hash(_ password: Secret, _ setting: String) throws(PasswordError) -> [UInt8] {
    var bytes = password.withBytes { password in
      [UInt8](capacity: longestPassword + 1) { output in
        // libcrypt ends a password at its first zero byte, so "x" would match the hash of "x\0y". So a password with a
        // zero byte is hashed as an empty one, which takes the same time.
        let count = isCString(password) ? min(password.count, longestPassword) : 0
        for place in 0..<count { output.append(password[place]) }
        output.append(0)
      }
    }
    defer {
      unsafe bytes.withUnsafeMutableBytes { bytes in
        if let start = bytes.baseAddress { unsafe explicit_bzero(start, bytes.count) }
      }
    }
    let size = regent_crypt_data_size()
    let data = UnsafeMutableRawPointer.allocate(byteCount: Int(size), alignment: 16)
    unsafe data.initializeMemory(as: UInt8.self, repeating: 0, count: Int(size))
    defer {
      unsafe explicit_bzero(data, Int(size))
      unsafe data.deallocate()
    }
    let text = unsafe bytes.withUnsafeBytes { bytes -> String? in
      let phrase = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      guard let phrase = unsafe phrase, let result = unsafe crypt_rn(phrase, setting, data, size) else { return nil }
      return unsafe String(cString: result)
    }
    guard let text, text.utf8.count == 7 + saltLength + hashLength else { throw .outOfMemory }
    return Array(text.utf8.suffix(hashLength))
  }

  /// Whether a password contains no zero byte.
  ///
  /// Programs in C cannot have hashed a password that contains a zero byte.
  static func isCString(_ password: Secret) -> Bool { password.withBytes(isCString) }

  private static func isCString(_ password: Span<UInt8>) -> Bool {
    (0..<password.count).allSatisfy { password[$0] != 0 }
  }
}
