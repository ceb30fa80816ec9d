/// What two who know the same typed code make of it: a proof that one knows it, and a seal that only the other opens.
///
/// The code never goes over the wire. Who records both messages can try codes at home: that is what the rounds are for,
/// and why a code must have 60 random bits at least.
public struct CodeKey: Sendable {
  /// About a tenth of a second on a desktop's core, and one on a small box's.
  private static let rounds = 200_000

  /// What is kept where one end must not stretch the code again: as secret as the code.
  public let secret: Secret
  private let proofs: HMACKey
  private let seal: SealingKey

  /// The key of a code, which takes that long; none only when there is no memory for it.
  ///
  /// - Parameters:
  ///   - code: what was typed, in its one form.
  ///   - salt: what is different for every code, and known to both.
  ///   - purpose: what the code is for.
  public init?(stretching code: Secret, salt: String, purpose: String) {
    var fields = FramedFields(purpose: purpose, version: 1)
    fields.append(salt)
    guard
      let bytes = KeyStretching.pbkdf2(code, salt: fields.bytes, .sha256, rounds: Self.rounds, count: SHA256.size)
    else { return nil }
    self.init(secret: Secret(wiping: bytes))
  }

  /// The key from what was kept of it; none for what is not as long.
  public init?(secret: Secret) {
    guard secret.count == SHA256.size,
      let seal = SealingKey(id: 0, HKDF.derive(from: secret, info: "regent: seal for a code"))
    else { return nil }
    self.secret = secret
    self.seal = seal
    proofs = HMACKey(.sha256, known: HKDF.derive(from: secret, info: "regent: proof of a code"))
  }

  /// What shows the other end that the code is known.
  public func proof(of message: [UInt8]) -> [UInt8] { proofs.code(message) }

  /// Whether somebody who knows the code made this; takes the same time wherever it is wrong.
  public func isProof(_ proof: [UInt8], of message: [UInt8]) -> Bool { proofs.isValid(proof, for: message) }

  /// Seals for the other end, as the answer to a message.
  public func seal(_ bytes: [UInt8], answering message: [UInt8]) -> [UInt8] {
    seal.seal(bytes, associatedData: message)
  }

  /// What the other end sealed as the answer to this message.
  public func open(_ box: [UInt8], answering message: [UInt8]) throws(SealError) -> Secret {
    try seal.open(box, associatedData: message)
  }
}
