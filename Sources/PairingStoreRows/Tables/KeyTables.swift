import RegentJSON
import RegentPairing
import PairingStore
import RegentSQL

/// The declarations of all signed tables.
///
/// The order of their columns is part of the row signatures.
package enum Tables {
  static let keyPairs = Table<KeyPair>(
    "key_pair", known: { $0.keyPairs },
    [
      .text("id"), .text("requestor"), .text("purpose"), .bytes("secret"), .number("created"),
      .text("state"),
    ]
  ) { pair, vault in
    [
      .text(pair.publicKey.text), .text(pair.requestor.text), .text(pair.purpose.rawValue),
      vault.seal(pair.secret.bytes, "key_pair.secret", of: pair.publicKey.text),
      .integer(pair.created.milliseconds), .text(pair.state.rawValue),
    ]
  } decode: { fields, vault throws(UnreadableRow) in
    let id: PublicKey = try fields.name()
    let requestor: RequestorID = try fields.name()
    let purpose: KeyPair.Purpose = try fields.choice()
    let secret = try vault.open(fields.bytes(), "key_pair.secret", of: id.text)
    return KeyPair(
      publicKey: id, requestor: requestor, purpose: purpose, secret: StoredSecret(secret),
      created: try fields.instant(), state: try fields.choice())
  }

  static let signingKeys = Table<SigningKeyRecord>(
    "signing_key", version: 2,
    [
      .text("id"), .bytes("private_key"), .text("public_jwk"), .number("created"),
      .number("signs_from"), .number("retired"), .number("needed_until"), .text("purpose"),
    ]
  ) { key, vault in
    [
      .text(key.id.text),
      vault.seal(key.privateKey.bytes, "signing_key.private_key", of: key.id.text),
      .text(key.publicKey), .integer(key.created.milliseconds),
      .integer(key.signsFrom.milliseconds), .optional(key.retired?.milliseconds),
      .optional(key.neededUntil?.milliseconds), .text(key.purpose.rawValue),
    ]
  } decode: { fields, vault throws(UnreadableRow) in
    let id: SigningKeyID = try fields.name()
    let secret = try vault.open(fields.bytes(), "signing_key.private_key", of: id.text)
    let publicKey = try fields.text()
    let (created, signsFrom) = (try fields.instant(), try fields.instant())
    let (retired, neededUntil) = (try fields.optionalInstant(), try fields.optionalInstant())
    return SigningKeyRecord(
      id: id, purpose: try fields.choice(), privateKey: StoredSecret(secret), publicKey: publicKey, created: created,
      signsFrom: signsFrom, retired: retired, neededUntil: neededUntil)
  }
}

extension SQLValue {
  static func optional(_ number: Int64?) -> SQLValue { number.map { .integer($0) } ?? .null }
  static func optional(_ text: String?) -> SQLValue { text.map { .text($0) } ?? .null }
  static func optional(_ bytes: [UInt8]?) -> SQLValue { bytes.map { .blob($0) } ?? .null }
  static func flag(_ isSet: Bool) -> SQLValue { .integer(isSet ? 1 : 0) }
}
