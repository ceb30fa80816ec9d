internal import CRegentOpenSSL

/// PBKDF2 (RFC 8018) derives a key from a password slowly, so that guessing a password takes long.
package enum KeyStretching {
  /// The hash function with which PBKDF2 computes its HMACs.
  ///
  /// SHA-1 is missing on purpose: no new password hash should depend on it.
  package enum Hash: Sendable { case sha256, sha512 }

  /// Derives `count` bytes from a password in `rounds` rounds, on the calling thread.
  ///
  /// Returns nil only when there is not enough memory.
  package static func pbkdf2(_ password: Secret, salt: [UInt8], _ hash: Hash, rounds: Int, count: Int) -> [UInt8]? {
    var output = [UInt8](repeating: 0, count: count)
    let isDone = password.withBytes { password in
      unsafe password.withUnsafeBytes { password in
        unsafe salt.withUnsafeBufferPointer { salt in
          unsafe output.withUnsafeMutableBufferPointer { output in
            unsafe PKCS5_PBKDF2_HMAC(
              password.baseAddress?.assumingMemoryBound(to: CChar.self), CInt(password.count),
              salt.baseAddress, CInt(salt.count), CInt(rounds),
              hash == .sha256 ? EVP_sha256() : EVP_sha512(), CInt(output.count), output.baseAddress) == 1
          }
        }
      }
    }
    return isDone ? output : nil
  }
}
