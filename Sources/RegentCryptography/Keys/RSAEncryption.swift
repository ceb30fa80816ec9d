internal import CRegentOpenSSL

/// The padding scheme of RSA encryption.
public enum RSAPadding: Sendable, Equatable, CaseIterable {
  /// PKCS #1 v1.5, for wire formats that demand it.
  case pkcs1
  /// OAEP with SHA-1, the default of most libraries.
  case oaepSHA1
  /// OAEP with SHA-256, which modern software prefers.
  case oaepSHA256

  /// The number of bytes in each RSA block that the padding takes.
  var overhead: Int {
    switch self {
    case .pkcs1: 11
    case .oaepSHA1: 2 * 20 + 2
    case .oaepSHA256: 2 * 32 + 2
    }
  }
}

/// An RSA public key of another party, 2048 to 4096 bits, for which this program encrypts.
public struct RSAEncryptionKey: Sendable {
  private let key: PKey

  /// Reads a PEM text with exactly one public key or X.509 certificate.
  public init(pem: String) throws(KeyError) {
    self.key = try rsa(VerifyingKey(pem: pem).key)
  }

  /// The maximum length of a message that can be encrypted, in bytes.
  public func longestMessage(_ padding: RSAPadding) -> Int {
    Int(unsafe EVP_PKEY_get_size(key.handle)) - padding.overhead
  }

  /// Encrypts a message of at most ``longestMessage(_:)`` bytes.
  public func encrypt(_ message: [UInt8], _ padding: RSAPadding) throws(KeyError) -> [UInt8] {
    let limit = longestMessage(padding)
    guard message.count <= limit else { throw .messageTooLong(limit: limit) }
    return try key.transform(message, padding, encrypts: true)
  }
}

/// An RSA private key that decrypts, for programs that receive messages.
public struct RSADecryptionKey: Sendable {
  private let key: PKey

  /// Reads a PEM text with exactly one private key that has no password.
  public init(pem: Secret) throws(KeyError) {
    let block = try PEM.secretBlock(of: ["PRIVATE KEY", "RSA PRIVATE KEY"], in: pem)
    self.key = try rsa(PKey(privateKey: block))
  }

  /// Decrypts a message.
  ///
  /// The caller must not let the sender learn whether this failed: with PKCS #1 v1.5 an attacker can use that to
  /// decrypt other messages (Bleichenbacher 1998).
  public func decrypt(_ message: [UInt8], _ padding: RSAPadding) throws(KeyError) -> Secret {
    Secret(wiping: try key.transform(message, padding, encrypts: false))
  }
}

private func rsa(_ key: PKey) throws(KeyError) -> PKey {
  guard key.algorithm == .rs256 else { throw .malformed("expected an RSA key") }
  return key
}

extension PKey {
  fileprivate func transform(
    _ message: [UInt8], _ padding: RSAPadding, encrypts: Bool
  ) throws(KeyError) -> [UInt8] {
    do throws(LibraryError) {
      return try openSSLTransform(
        message, padding, encrypts: encrypts, encrypts ? "encrypt" : "decrypt")
    } catch {
      throw .library(error)
    }
  }

  private func openSSLTransform(
    _ message: [UInt8], _ padding: RSAPadding, encrypts: Bool, _ what: String
  ) throws(LibraryError) -> [UInt8] {
    guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, handle, nil) else {
      throw LibraryError(what)
    }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    try check(
      unsafe encrypts ? EVP_PKEY_encrypt_init(context) : EVP_PKEY_decrypt_init(context), what)
    switch padding {
    case .pkcs1:
      try check(unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING), what)
    case .oaepSHA1, .oaepSHA256:
      let digest = padding == .oaepSHA1 ? Digest.sha1 : .sha256
      try check(unsafe EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_OAEP_PADDING), what)
      try check(unsafe EVP_PKEY_CTX_set_rsa_oaep_md(context, digest.handle), what)
      try check(unsafe EVP_PKEY_CTX_set_rsa_mgf1_md(context, digest.handle), what)
    }
    var length = Int(unsafe EVP_PKEY_get_size(handle))
    var output = [UInt8](repeating: 0, count: length)
    defer { wipe(&output) }
    let result =
      unsafe encrypts
      ? EVP_PKEY_encrypt(context, &output, &length, message, message.count)
      : EVP_PKEY_decrypt(context, &output, &length, message, message.count)
    try check(result, what)
    return Array(output.prefix(length))
  }
}
