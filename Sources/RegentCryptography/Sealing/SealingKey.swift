internal import CRegentOpenSSL
internal import RegentEncodings

/// A key that seals bytes so that only its holder can read them and nobody can change them (AES-256-GCM).
///
/// A box is `version ‖ key id ‖ nonce ‖ ciphertext ‖ tag` (1, 4, 12, n and 16 bytes). Version and key id are
/// authenticated too. The associated data is not in the box but must be the same when it is opened: give what the
/// box belongs to (table, column and row), or one row's secret can be moved to another.
///
/// A nonce is the beginning of an HMAC over random bytes, the associated data and the contents. It looks random, which
/// bounds one key to 2³² boxes (NIST SP 800-38D §8.3); change keys before. Where two machines started from one image
/// draw the same random bytes, a nonce comes twice only with the same contents in the same place, and then the box is
/// the same, too. A random nonce alone would reveal both contents and let anyone forge boxes.
public struct SealingKey: Sendable {
  /// The length of the secret in bytes.
  public static let secretLength = 32
  /// How many bytes a box is longer than what it holds.
  public static let overhead = headerLength + nonceLength + tagLength

  private static let version: UInt8 = 1
  private static let headerLength = 5
  private static let nonceLength = 12
  private static let tagLength = 16

  /// The number that tells which key a box needs.
  public let id: UInt32
  private let secret: Secret
  private let nonces: HMACKey

  /// A key from its secret; nil unless that is 32 bytes long.
  public init?(id: UInt32, _ secret: Secret) {
    guard secret.count == SealingKey.secretLength else { return nil }
    self.init(id: id, known: secret)
  }

  /// A new key and its secret, to be sealed with another key and kept.
  public static func generate(id: UInt32) -> (key: SealingKey, secret: Secret) {
    let secret = Random.secret(secretLength)
    return (SealingKey(id: id, known: secret), secret)
  }

  private init(id: UInt32, known secret: Secret) {
    self.id = id
    self.secret = secret
    nonces = HMACKey(.sha256, known: HKDF.derive(from: secret, info: "regent: nonces of a sealing key"))
  }

  /// Seals `bytes`.
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

  /// Seals `bytes`.
  public func seal(_ bytes: [UInt8], associatedData: [UInt8]) -> [UInt8] {
    seal(bytes.span, associatedData: associatedData)
  }

  /// Seals a secret.
  public func seal(_ secret: Secret, associatedData: [UInt8]) -> [UInt8] {
    secret.withBytes { seal($0, associatedData: associatedData) }
  }

  /// The contents of `box`; an error when it is not exactly what this key sealed with this associated data.
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
    // Nothing of the plain text leaves before the tag is known to be right.
    var plain = work.transform(bytes.extracting(nonceEnd..<tagStart))
    guard work.tagIsRight(Array(box[tagStart...])) else {
      wipe(&plain)
      throw .notAuthentic
    }
    return Secret(wiping: plain)
  }

  /// Which key `box` needs.
  public static func id(of box: [UInt8]) throws(SealError) -> UInt32 {
    guard box.count >= overhead else { throw .malformed }
    guard box[0] == version else { throw .unknownVersion(box[0]) }
    return box[1..<headerLength].reduce(0) { $0 << 8 | UInt32($1) }
  }
}

/// Why a box was not opened.
public enum SealError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Too short to be a box.
  case malformed
  /// Sealed by a later version of this program.
  case unknownVersion(UInt8)
  /// Sealed with the key of this id.
  case otherKey(needed: UInt32)
  /// Changed, moved to another place, or sealed with another key of the same id.
  case notAuthentic

  /// A sentence for the log.
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
