/// A private key that signs with exactly one algorithm.
public struct SigningKey: Sendable {
  public let algorithm: SignatureAlgorithm
  public let publicKey: VerifyingKey
  private let key: PKey
  private let prepared: PreparedSigning?

  /// Makes a new key; `rsaBits` (2048 to 4096) is used only for RS256.
  ///
  /// Making an RSA key takes up to a second, so do not call this on an event loop.
  public static func generate(
    _ algorithm: SignatureAlgorithm, rsaBits: Int = 3072
  ) throws(KeyError) -> SigningKey {
    guard algorithm != .rs256 || (2048...4096).contains(rsaBits) else {
      throw .rsaSize(bits: rsaBits)
    }
    return try SigningKey(PKey.generate(algorithm, rsaBits: rsaBits))
  }

  /// Reads a PEM text with exactly one private key (PKCS#8, or the older RSA and EC formats) that has no password.
  public init(pem: Secret) throws(KeyError) {
    let labels = ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"]
    try self.init(PKey(privateKey: PEM.secretBlock(of: labels, in: pem)))
  }

  public init(pkcs8: Secret) throws(KeyError) {
    try self.init(PKey(privateKey: pkcs8))
  }

  private init(_ key: PKey) throws(KeyError) {
    self.key = key
    algorithm = key.algorithm
    publicKey = try VerifyingKey(spki: VerifyingKey(key).spki)
    do throws(LibraryError) { prepared = try PreparedSigning(key, .sha256) } catch { throw .library(error) }
    // A private key with the public half of another key would make signatures that cannot be verified. So a test
    // signature is made and verified.
    let probe = Array("probe".utf8)
    guard publicKey.isValid(try sign(probe), for: probe) else { throw .inconsistent }
  }

  public func sign(_ message: Span<UInt8>) throws(KeyError) -> [UInt8] {
    do throws(LibraryError) {
      guard let prepared else { return try key.sign(message) }
      let context = DigestContext(.sha256)
      context.update(message)
      var hash: [32 of UInt8] = .init(repeating: 0)
      var output = hash.mutableSpan
      context.finish(into: &output)
      let signature = try prepared.sign(digest: hash.span)
      guard algorithm == .es256 else { return signature }
      guard let raw = DER.rawSignature(signature) else { throw LibraryError("sign in the expected form") }
      return raw
    } catch {
      throw .library(error)
    }
  }

  public func sign(_ message: [UInt8]) throws(KeyError) -> [UInt8] { try sign(message.span) }

  /// The private key in PKCS#8 format.
  public func pkcs8() throws(KeyError) -> Secret {
    do throws(LibraryError) { return try key.pkcs8() } catch { throw .library(error) }
  }

  public func pem() throws(KeyError) -> Secret {
    PEM.encode("PRIVATE KEY", try pkcs8())
  }
}
