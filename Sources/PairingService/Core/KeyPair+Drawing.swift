internal import PairingStore
internal import RegentCryptography
internal import RegentPairing

/// The characters of public keys (32 characters, 190 bits) and secrets (40 characters, 238 bits).
///
/// The public key of a box begins with a four-character prefix, which leaves 166 bits.
private let lettersAndDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

extension KeyPair {
  /// Generates a key pair.
  ///
  /// `isBoxes` marks a pair that belongs to a single box.
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
