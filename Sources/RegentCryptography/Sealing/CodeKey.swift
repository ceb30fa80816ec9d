/// A key that two parties derive from a code that a person typed.
///
/// With it, a party proves that it knows the code, and encrypts for the other party.
///
/// The code itself is never sent. An attacker who records the messages can try codes offline. The PBKDF2 rounds make
/// each try slow, and a code must have at least 60 random bits.
public struct CodeKey: Sendable {
  /// The number of PBKDF2 rounds.
  ///
  /// They take about 0.1 s on a desktop core and 1 s on a small box.
  private static let rounds = 200_000

  /// The stretched code, which is as secret as the code itself.
  ///
  /// A party stores it to avoid stretching the code again.
  public let secret: Secret
  private let proofs: HMACKey
  private let seal: SealingKey

  /// Derives the key from a code.
  ///
  /// Returns nil only when there is not enough memory.
  ///
  /// - Parameters:
  ///   - code: the code in its canonical form.
  ///   - salt: a value that both parties know and that is different for each code.
  ///   - purpose: the use of the code, so that two uses never share a key.
  public init?(stretching code: Secret, salt: String, purpose: String) {
    var fields = FramedFields(purpose: purpose, version: 1)
    fields.append(salt)
    guard
      let bytes = KeyStretching.pbkdf2(code, salt: fields.bytes, .sha256, rounds: Self.rounds, count: SHA256.size)
    else { return nil }
    self.init(secret: Secret(wiping: bytes))
  }

  /// Makes the key from a stored ``secret``; nil unless it has 32 bytes.
  public init?(secret: Secret) {
    guard secret.count == SHA256.size,
      let seal = SealingKey(id: 0, HKDF.derive(from: secret, info: "regent: seal for a code"))
    else { return nil }
    self.secret = secret
    self.seal = seal
    proofs = HMACKey(.sha256, known: HKDF.derive(from: secret, info: "regent: proof of a code"))
  }

  /// A proof, for the other party, that this party knows the code.
  public func proof(of message: [UInt8]) -> [UInt8] { proofs.code(message) }

  /// Whether `proof` was made from `message` by a party that knows the code.
  ///
  /// Compares in constant time.
  public func isProof(_ proof: [UInt8], of message: [UInt8]) -> Bool { proofs.isValid(proof, for: message) }

  /// Encrypts bytes for the other party, bound to the message that these bytes answer.
  public func seal(_ bytes: [UInt8], answering message: [UInt8]) -> [UInt8] {
    seal.seal(bytes, associatedData: message)
  }

  /// Decrypts the bytes that the other party sealed as the answer to `message`.
  public func open(_ box: [UInt8], answering message: [UInt8]) throws(SealError) -> Secret {
    try seal.open(box, associatedData: message)
  }
}
