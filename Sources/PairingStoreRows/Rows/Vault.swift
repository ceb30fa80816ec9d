import RegentCryptography
import RegentPairing
import PairingStore
import RegentSQL

/// The data keys in use, for encrypting secrets and signing rows.
struct Vault: Sendable {
  /// The version of the derivation of row keys.
  ///
  /// It must never change, because that would change every row key of every requestor. A table that gains a column gets
  /// a new version of its signed form instead (``SignedForm``).
  private static let derivation: UInt8 = 1
  /// The version of the associated data of encrypted values.
  ///
  /// It must never change either.
  private static let binding: UInt8 = 1

  /// Encrypts secrets inside rows.
  let sealing: SealingKey
  /// Signs the rows of the service itself.
  let records: HMACKey
  /// The key from which, together with a requestor's row pair, the requestor's row key is derived.
  let rows: Secret
  /// The keys for the service's own purposes.
  let material: [KeyPurpose: StoredSecret]

  /// Derives the row key of a row pair.
  ///
  /// It needs both the random data key and the pair's secret, so that an attacker who has only one of them cannot sign
  /// rows.
  func rowKey(of pair: KeyPair) -> HMACKey? {
    var info = FramedFields(purpose: "row key", version: Vault.derivation)
    info.append(pair.publicKey.text)
    info.append(pair.secret.bytes)
    return try? HMACKey(.sha256, HKDF.derive(from: rows, info: info.bytes))
  }

  /// The key that authenticates a backup as a whole.
  ///
  /// The row signatures cannot show that a row is missing from a backup, or comes from a backup of another day.
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
  /// It is bound to its row and column, so that it cannot be decrypted elsewhere.
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
