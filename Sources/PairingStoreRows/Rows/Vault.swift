import RegentCryptography
import RegentPairing
import PairingStore
import RegentSQL

/// The data keys in use: what seals secrets and signs rows.
struct Vault: Sendable {
  /// How row keys are derived.
  ///
  /// Another number is another key for every row of every requestor, so it never changes: a
  /// table that gets a column has a signed form of its own version (``SignedForm``).
  private static let derivation: UInt8 = 1
  /// What a sealed value is bound to: for the same reason it never changes.
  private static let binding: UInt8 = 1

  /// Seals secrets inside rows.
  let sealing: SealingKey
  /// Signs the rows of the service itself.
  let records: HMACKey
  /// From this, and a requestor's row pair, the key that signs the requestor's rows is made.
  let rows: Secret
  /// What the service asked for.
  let material: [KeyPurpose: StoredSecret]

  /// The key for rows of one row pair.
  ///
  /// The pair's secret alone must not suffice, so the random data key is what is expanded; whoever has the data key
  /// alone has not the pair's secret.
  func rowKey(of pair: KeyPair) -> HMACKey? {
    var info = FramedFields(purpose: "row key", version: Vault.derivation)
    info.append(pair.publicKey.text)
    info.append(pair.secret.bytes)
    return try? HMACKey(.sha256, HKDF.derive(from: rows, info: info.bytes))
  }

  /// What proves that a backup is one of this service, whole and as it was made.
  ///
  /// Its rows are signed one by one: that none is missing, or from another day than the rest, no row can say.
  func backupKey() throws -> HMACKey {
    try HMACKey(.sha256, HKDF.derive(from: rows, info: FramedFields(purpose: "backup", version: 1).bytes))
  }

  /// What a signature is made over.
  static func message(_ table: String, _ form: SignedForm, _ values: [SQLValue]) -> [UInt8] {
    var fields = FramedFields(purpose: table, version: form.version)
    for value in values { fields.append(value) }
    return fields.bytes
  }

  /// Seals a value of a row: moved to another row, column or table it does not open.
  func seal(_ bytes: [UInt8], _ column: String, of row: String) -> SQLValue {
    .blob(sealing.seal(bytes, associatedData: Vault.place(column, row)))
  }

  /// Opens a sealed value.
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
