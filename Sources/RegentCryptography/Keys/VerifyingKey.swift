/// A public key that verifies signatures of exactly one algorithm.
public struct VerifyingKey: Sendable {
  public let algorithm: SignatureAlgorithm
  /// The key as SubjectPublicKeyInfo in DER.
  public let spki: [UInt8]
  let key: PKey
  private let prepared: PreparedVerification?

  /// Reads a PEM text with one public key or one X.509 certificate.
  ///
  /// Of a certificate nothing but the key counts.
  public init(pem: String) throws(KeyError) {
    let block = try PEM.oneBlock(of: ["PUBLIC KEY", "CERTIFICATE"], in: pem.utf8.span)
    if block.label == "CERTIFICATE" {
      try self.init(PKey(certificate: block.bytes))
    } else {
      try self.init(PKey(spki: block.bytes))
    }
  }

  /// Reads the SubjectPublicKeyInfo form.
  public init(spki: [UInt8]) throws(KeyError) {
    try self.init(PKey(spki: spki))
  }

  init(_ key: PKey) throws(KeyError) {
    self.key = key
    algorithm = key.algorithm
    do throws(LibraryError) {
      spki = try key.spki()
      prepared = try PreparedVerification(key, .sha256)
    } catch {
      throw .library(error)
    }
  }

  /// True when `signature` is one of `message`.
  public func isValid(_ signature: [UInt8], for message: Span<UInt8>) -> Bool {
    guard let prepared else { return key.verifies(signature, message, digest: nil) }
    var wanted = signature
    if algorithm == .es256 {
      guard signature.count == 64 else { return false }
      wanted = DER.ecdsaSignature(signature)
    }
    let hash = SHA256.fixed(message)
    return prepared.verifies(wanted, digest: hash.span)
  }

  /// True when `signature` is one of `message`.
  public func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
    isValid(signature, for: message.span)
  }

  /// True when `signature` is RSASSA-PKCS1-v1_5 with SHA-1, of an RSA key.
  ///
  /// Collisions of SHA-1 can be made: only for an old wire format in which nobody else chooses what is
  /// signed.
  public func isValidLegacySHA1(_ signature: [UInt8], for message: [UInt8]) -> Bool {
    algorithm == .rs256 && key.verifies(signature, message.span, digest: .sha1)
  }

  /// The key as a PEM text.
  public func pem() -> String { PEM.encode("PUBLIC KEY", spki) }
}

extension VerifyingKey: Hashable {
  /// True when both are the same key.
  public static func == (one: VerifyingKey, other: VerifyingKey) -> Bool { one.spki == other.spki }
  /// Hashes the encoded key.
  public func hash(into hasher: inout Hasher) { hasher.combine(spki) }
}
