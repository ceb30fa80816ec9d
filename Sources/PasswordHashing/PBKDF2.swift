internal import CRegentOpenSSL
internal import RegentCryptography

/// PBKDF2 (RFC 8018), on the calling thread.
package enum PBKDF2 {
  /// The hash below HMAC; SHA-1 is not one of them, because nothing that is kept today should stand on it.
  package enum Digest: String, Hashable, Sendable, CaseIterable {
    case sha256, sha512

    /// As many bytes as one pass of all rounds gives; more would cost passes that protect nothing.
    var size: Int { self == .sha256 ? 32 : 64 }
    /// About a second on one core.
    var mostRounds: Int { self == .sha256 ? 2_000_000 : 1_000_000 }
    var name: String { self == .sha256 ? "SHA-256" : "SHA-512" }
  }

  /// The hash; an error only when there is no memory for it.
  static func hash(
    _ password: Secret, salt: [UInt8], count: Int, _ digest: Digest, rounds: Int
  ) throws(PasswordError) -> [UInt8] {
    var output = [UInt8](repeating: 0, count: count)
    let isDone = password.withBytes { password in
      unsafe password.withUnsafeBytes { password in
        unsafe salt.withUnsafeBufferPointer { salt in
          unsafe output.withUnsafeMutableBufferPointer { output in
            unsafe PKCS5_PBKDF2_HMAC(
              password.baseAddress?.assumingMemoryBound(to: CChar.self), CInt(password.count),
              salt.baseAddress, CInt(salt.count), CInt(rounds),
              digest == .sha256 ? EVP_sha256() : EVP_sha512(), CInt(output.count), output.baseAddress) == 1
          }
        }
      }
    }
    guard isDone else { throw .outOfMemory }
    return output
  }
}
