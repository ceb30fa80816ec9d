/// A public key that verifies signatures of exactly one algorithm.
public struct VerifyingKey: Sendable {
  public let algorithm: SignatureAlgorithm
  /// The key as SubjectPublicKeyInfo in DER.
  public let spki: [UInt8]
  let key: PKey
  private let prepared: PreparedVerification?

  /// Reads a PEM text with exactly one public key or X.509 certificate.
  ///
  /// Only the key of a certificate is used: its issuer and its validity are not checked.
  public init(pem: String) throws(KeyError) {
    let block = try PEM.oneBlock(of: ["PUBLIC KEY", "CERTIFICATE"], in: pem.utf8.span)
    if block.label == "CERTIFICATE" {
      try self.init(PKey(certificate: block.bytes))
    } else {
      try self.init(PKey(spki: block.bytes))
    }
  }

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

  /// Whether `signature` is a valid signature of `message`.
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

  /// Whether `signature` is a valid signature of `message`.
  public func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
    isValid(signature, for: message.span)
  }

  /// Whether this is an RSA key and `signature` a valid RSASSA-PKCS1-v1_5 signature of `message` with SHA-1.
  ///
  /// SHA-1 collisions can be computed. Use this only for an old wire format in which an attacker cannot choose what is
  /// signed.
  public func isValidLegacySHA1(_ signature: [UInt8], for message: [UInt8]) -> Bool {
    algorithm == .rs256 && key.verifies(signature, message.span, digest: .sha1)
  }

  public func pem() -> String { PEM.encode("PUBLIC KEY", spki) }
}

extension VerifyingKey: Hashable {
  public static func == (one: VerifyingKey, other: VerifyingKey) -> Bool { one.spki == other.spki }
  public func hash(into hasher: inout Hasher) { hasher.combine(spki) }
}
