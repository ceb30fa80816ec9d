internal import RegentCryptography

/// PBKDF2 (RFC 8018), run on the calling thread.
package enum PBKDF2 {
  /// The hash function with which PBKDF2 computes its HMACs.
  ///
  /// SHA-1 is not offered, because hashes stored today must not depend on it.
  package enum Digest: String, Hashable, Sendable, CaseIterable {
    case sha256, sha512

    /// The size of the digest in bytes.
    ///
    /// A longer output needs all rounds once more for each further block and protects no better.
    var size: Int { self == .sha256 ? 32 : 64 }
    /// The maximum number of rounds, which take about a second on one core.
    var mostRounds: Int { self == .sha256 ? 2_000_000 : 1_000_000 }
    var name: String { self == .sha256 ? "SHA-256" : "SHA-512" }
  }

  /// Hashes a password with PBKDF2.
  ///
  /// This fails only when there is not enough memory.
  static func hash(
    _ password: Secret, salt: [UInt8], count: Int, _ digest: Digest, rounds: Int
  ) throws(PasswordError) -> [UInt8] {
    let output = KeyStretching.pbkdf2(
      password, salt: salt, digest == .sha256 ? .sha256 : .sha512, rounds: rounds, count: count)
    guard let output else { throw .outOfMemory }
    return output
  }
}
