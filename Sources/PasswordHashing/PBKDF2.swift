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
    let output = KeyStretching.pbkdf2(
      password, salt: salt, digest == .sha256 ? .sha256 : .sha512, rounds: rounds, count: count)
    guard let output else { throw .outOfMemory }
    return output
  }
}
