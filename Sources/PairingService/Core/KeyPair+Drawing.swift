internal import PairingStore
internal import RegentCryptography
internal import RegentPairing

/// What public keys and secrets are made of: 32 and 40 letters and digits, 190 and 238 bits.
///
/// After the prefix of a box, a public key has 166.
private let lettersAndDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

extension KeyPair {
  /// A new pair of random letters; `isBoxes` for one that one box alone has.
  static func drawn(
    for requestor: RequestorID, _ purpose: Purpose, isBoxes: Bool = false, at now: Instant
  ) -> KeyPair? {
    let prefix = isBoxes ? boxPrefix : ""
    guard let publicKey = PublicKey(prefix + Random.text(32 - prefix.utf8.count, from: lettersAndDigits)) else {
      return nil
    }
    return KeyPair(
      publicKey: publicKey, requestor: requestor, purpose: purpose,
      secret: StoredSecret(Array(Random.text(40, from: lettersAndDigits).utf8)), created: now)
  }
}
