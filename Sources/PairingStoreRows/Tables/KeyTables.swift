import RegentJSON
import RegentPairing
import PairingStore
import RegentSQL

/// The declarations of all signed tables.
///
/// The order of their columns is part of the row signatures.
package enum Tables {
  static let keyPairs = Table<KeyPair>(
    "key_pair", known: { $0.keyPairs }, indexes: [Index("requestor", on: "requestor, purpose, state")],
    .column("id", \.publicKey), .column("requestor", \.requestor),
    .column("purpose", \.purpose), .sealed("secret", \.secret), .column("created", \.created),
    .column("state", \.state), make: KeyPair.init)

  static let signingKeys = Table<SigningKeyRecord>(
    "signing_key", version: 2, .column("id", \.id), .sealed("private_key", \.privateKey),
    .column("public_jwk", \.publicKey), .column("created", \.created), .column("signs_from", \.signsFrom),
    .column("retired", \.retired), .column("needed_until", \.neededUntil), .column("purpose", \.purpose)
  ) { id, privateKey, publicKey, created, signsFrom, retired, neededUntil, purpose in
    SigningKeyRecord(
      id: id, purpose: purpose, privateKey: privateKey, publicKey: publicKey, created: created, signsFrom: signsFrom,
      retired: retired, neededUntil: neededUntil)
  }
}
