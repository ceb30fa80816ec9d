internal import PairingStore
internal import RegentCryptography
internal import RegentPairing

/// What public keys and secrets are made of: 32 and 40 letters and digits, 190 and 238 bits.
private let lettersAndDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

extension KeyPair {
  /// A new pair of random letters.
  static func drawn(for requestor: RequestorID, _ purpose: Purpose, at now: Instant) -> KeyPair? {
    guard let publicKey = PublicKey(Random.text(32, from: lettersAndDigits)) else { return nil }
    return KeyPair(
      publicKey: publicKey, requestor: requestor, purpose: purpose,
      secret: StoredSecret(Array(Random.text(40, from: lettersAndDigits).utf8)), created: now)
  }
}
