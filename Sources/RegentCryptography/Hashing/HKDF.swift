/// HKDF with SHA-256 (RFC 5869): derives keys for several purposes from one secret.
public enum HKDF {
  /// The maximum number of bytes that one call can derive.
  public static let longest = 255 * SHA256.size

  /// Derives a key of `count` bytes from a secret.
  ///
  /// The secret must be a random key that cannot be guessed. Use ``PasswordHasher`` for passwords.
  public static func derive(
    from secret: Secret, salt: [UInt8] = [], info: [UInt8], count: Int = 32
  ) -> Secret {
    precondition((1...longest).contains(count), "HKDF gives 1 to \(longest) bytes")
    // Without a salt, as many zeros are used as the hash has bytes (RFC 5869).
    let salt = salt.isEmpty ? [UInt8](repeating: 0, count: SHA256.size) : salt
    let extract = HMACKey(.sha256, known: Secret(copying: salt))
    let expand = HMACKey(.sha256, known: secret.withBytes { Secret(wiping: extract.code($0)) })

    var output: [UInt8] = []
    var block: [UInt8] = []
    var counter: UInt8 = 0
    defer { wipe(&block) }
    output.reserveCapacity(count + SHA256.size)
    while output.count < count {
      counter += 1
      var message = block + info
      message.append(counter)
      wipe(&block)
      block = expand.code(message)
      wipe(&message)
      output += block
    }
    defer { wipe(&output) }
    return Secret(copying: output.span.extracting(first: count))
  }

  /// Derives a key of `count` bytes from a secret.
  ///
  /// The text `info` names the purpose, so that two purposes never share a key.
  public static func derive(
    from secret: Secret, salt: [UInt8] = [], info: String, count: Int = 32
  ) -> Secret {
    derive(from: secret, salt: salt, info: Array(info.utf8), count: count)
  }
}
