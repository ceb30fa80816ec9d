internal import CRegentOpenSSL
internal import RegentEncodings

/// A key that encrypts and authenticates bytes with AES-256-GCM.
///
/// A sealed box is `version ‖ key id ‖ nonce ‖ ciphertext ‖ tag` (1, 4, 12, n and 16 bytes). The version and the key id
/// are authenticated, too. The associated data is not in the box, and opening it needs the same data. Pass the place of
/// the box (table, column and row); otherwise an attacker could move the secret of one row to another.
///
/// The nonce is the start of an HMAC over random bytes, the associated data and the contents. It is as good as random,
/// so one key may seal at most 2³² boxes (NIST SP 800-38D §8.3); change the key before. Two virtual machines that start
/// from one image may draw the same random bytes. A purely random nonce would then repeat, which reveals both contents
/// and lets attackers forge boxes. This nonce repeats only for the same contents in the same place, and then the boxes
/// are identical.
public struct SealingKey: Sendable {
  /// The length of the secret in bytes.
  public static let secretLength = 32
  /// The number of bytes by which a sealed (encrypted) text is longer than its contents.
  public static let overhead = headerLength + nonceLength + tagLength

  private static let version: UInt8 = 1
  private static let headerLength = 5
  private static let nonceLength = 12
  private static let tagLength = 16

  /// The id of the key; every sealed text contains the id of the key that opens it.
  public let id: UInt32
  private let secret: Secret
  private let nonces: HMACKey

  /// Makes a key from its secret; nil unless that has 32 bytes.
  public init?(id: UInt32, _ secret: Secret) {
    guard secret.count == SealingKey.secretLength else { return nil }
    self.init(id: id, known: secret)
  }

  /// Makes a new key.
  ///
  /// The caller seals the key's secret with another key and stores it.
  public static func generate(id: UInt32) -> (key: SealingKey, secret: Secret) {
    let secret = Random.secret(secretLength)
    return (SealingKey(id: id, known: secret), secret)
  }

  private init(id: UInt32, known secret: Secret) {
    self.id = id
    self.secret = secret
    nonces = HMACKey(.sha256, known: HKDF.derive(from: secret, info: "regent: nonces of a sealing key"))
  }

  public func seal(_ bytes: Span<UInt8>, associatedData: [UInt8]) -> [UInt8] {
    seal(bytes, associatedData: associatedData, random: Random.bytes(16))
  }

  func seal(_ bytes: Span<UInt8>, associatedData: [UInt8], random: [UInt8]) -> [UInt8] {
    let header = [SealingKey.version] + id.bigEndianBytes
    let nonce = nonce(for: bytes, associatedData, random)
    let work = GCM(secret, nonce: nonce, encrypts: true)
    work.authenticate(header)
    work.authenticate(associatedData)
    var box = header + nonce
    box.reserveCapacity(bytes.count + SealingKey.overhead)
    box += work.transform(bytes)
    box += work.finishedTag()
    return box
  }

  private func nonce(for bytes: Span<UInt8>, _ associatedData: [UInt8], _ random: [UInt8]) -> [UInt8] {
    var fields = FramedFields(purpose: "nonce", version: 1)
    fields.append(random)
    fields.append(associatedData)
    var message = fields.bytes + [UInt8](copying: bytes)
    defer { wipe(&message) }
    return Array(nonces.code(message).prefix(SealingKey.nonceLength))
  }

  public func seal(_ bytes: [UInt8], associatedData: [UInt8]) -> [UInt8] {
    seal(bytes.span, associatedData: associatedData)
  }

  public func seal(_ secret: Secret, associatedData: [UInt8]) -> [UInt8] {
    secret.withBytes { seal($0, associatedData: associatedData) }
  }

  /// Decrypts `box` and returns its contents.
  ///
  /// Throws unless this key sealed exactly these bytes with this associated data.
  public func open(_ box: [UInt8], associatedData: [UInt8]) throws(SealError) -> Secret {
    let needed = try SealingKey.id(of: box)
    guard needed == id else { throw SealError.otherKey(needed: needed) }
    let bytes = box.span
    let nonceEnd = SealingKey.headerLength + SealingKey.nonceLength
    let tagStart = box.count - SealingKey.tagLength
    let work = GCM(
      secret, nonce: Array(box[SealingKey.headerLength..<nonceEnd]), encrypts: false)
    work.authenticate(Array(box[..<SealingKey.headerLength]))
    work.authenticate(associatedData)
    // The plain text is only returned after the authentication tag was verified.
    var plain = work.transform(bytes.extracting(nonceEnd..<tagStart))
    guard work.tagIsRight(Array(box[tagStart...])) else {
      wipe(&plain)
      throw .notAuthentic
    }
    return Secret(emptying: &plain)
  }

  /// The id of the key that opens `box`.
  public static func id(of box: [UInt8]) throws(SealError) -> UInt32 {
    guard box.count >= overhead else { throw .malformed }
    guard box[0] == version else { throw .unknownVersion(box[0]) }
    return box[1..<headerLength].reduce(0) { $0 << 8 | UInt32($1) }
  }
}

/// Why a sealed (encrypted) text was not opened.
public enum SealError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The bytes are too short to be a sealed text.
  case malformed
  /// A later version of this program sealed the text.
  case unknownVersion(UInt8)
  /// The text was sealed with another key, which has this id.
  case otherKey(needed: UInt32)
  /// The sealed text was changed, or moved to another row, or was sealed with another key of the same id.
  case notAuthentic

  /// A sentence about the error for the log.
  public var description: String {
    switch self {
    case .malformed: "the sealed value is cut off"
    case .unknownVersion(let version):
      "the sealed value has version \(version), which this program does not know"
    case .otherKey(let needed): "the sealed value needs key \(needed)"
    case .notAuthentic:
      "the sealed value was changed or moved, or the key is not the one it was sealed with"
    }
  }
}

extension UInt32 {
  fileprivate var bigEndianBytes: [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: self >> UInt32($0)) }
  }
}
