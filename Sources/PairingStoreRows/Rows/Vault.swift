import RegentCryptography
import RegentPairing
import PairingStore
import RegentSQL

/// The data keys in use, for encrypting secrets and signing rows.
struct Vault: Sendable {
  /// The version of the way in which row keys are derived.
  ///
  /// It must never change, because that would change every row key of every requestor. A table that gains a column gets
  /// a new version of its signed form instead (``SignedForm``).
  private static let derivation: UInt8 = 1
  /// The version of the associated data of encrypted values.
  ///
  /// It must never change, because no stored value could be decrypted any more.
  private static let binding: UInt8 = 1

  /// The key that encrypts secrets inside rows.
  let sealing: SealingKey
  /// The key that signs the service's own rows.
  let records: HMACKey
  /// The key from which a requestor's row key is derived, together with the requestor's key pair for rows.
  let rows: Secret
  /// The random keys that the service uses for its own purposes, such as hashing codes.
  let material: [KeyPurpose: StoredSecret]

  /// Derives the key that signs a requestor's rows.
  ///
  /// It needs both the random data key and the secret of the requestor's key pair for rows, so that an attacker who has
  /// only one of them cannot sign rows.
  func rowKey(of pair: KeyPair) -> HMACKey? {
    var info = FramedFields(purpose: "row key", version: Vault.derivation)
    info.append(pair.publicKey.text)
    info.append(pair.secret.bytes)
    return try? HMACKey(.sha256, HKDF.derive(from: rows, info: info.bytes))
  }

  /// The key that authenticates a backup as a whole.
  ///
  /// The row signatures cannot show that a row is missing from a backup, or that it comes from a backup of another day.
  func backupKey() throws -> HMACKey {
    try HMACKey(.sha256, HKDF.derive(from: rows, info: FramedFields(purpose: "backup", version: 1).bytes))
  }

  /// The bytes that a row's signature covers.
  static func message(_ table: String, _ form: SignedForm, _ values: [SQLValue]) -> [UInt8] {
    var fields = FramedFields(purpose: table, version: form.version)
    for value in values { fields.append(value) }
    return fields.bytes
  }

  /// Encrypts a value of a row.
  ///
  /// The result is bound to its row and column. An attacker who copies it to another place cannot get it decrypted
  /// there.
  func seal(_ bytes: [UInt8], _ column: String, of row: String) -> SQLValue {
    .blob(sealing.seal(bytes, associatedData: Vault.place(column, row)))
  }

  func open(_ box: [UInt8], _ column: String, of row: String) throws(UnreadableRow) -> [UInt8] {
    do throws(SealError) {
      return try sealing.open(box, associatedData: Vault.place(column, row)).exposedBytes()
    } catch {
      throw UnreadableRow()
    }
  }

  private static func place(_ column: String, _ row: String) -> [UInt8] {
    var fields = FramedFields(purpose: column, version: binding)
    fields.append(row)
    return fields.bytes
  }
}
