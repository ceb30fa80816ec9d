import PairingStore
import RegentPairing
import SQLite

/// Gives all rows of one table another signed form: what a migration needs that adds a column to a signed table.
///
/// A row that does not verify in the old form stays as it is: it does not exist before, and does not afterwards.
///
/// Both forms are written down in the migration itself, not taken from ``Tables``, which shows today's: what a released
/// migration does never changes.
struct Resigning: Sendable {
  /// A row as its values, whatever they mean.
  typealias RawTable = Table<[SQLValue]>

  let old: RawTable
  let new: RawTable
  /// The form that rows of key pairs have when this migration runs.
  let keyPairs: Table<KeyPair>
  /// A row's values in the new form.
  let convert: @Sendable (_ old: [SQLValue], Vault) throws -> [SQLValue]
  /// How many rows share a transaction.
  var rowsPerPart = 500

  /// The migration: what changes the schema, and then all rows.
  func migration(
    _ name: String, _ keys: MigrationKeys,
    schema: @escaping @Sendable (borrowing WriteContext) throws -> Void
  ) -> Migration {
    Migration(name) { context in
      try schema(context)
      // Before anything is kept: with a wrong master key the file stays as it was.
      _ = try keys.vault(in: context)
    } inParts: { context, place in
      try resignPart(context, keys, from: place)
    }
  }

  private func resignPart(
    _ context: borrowing WriteContext, _ keys: MigrationKeys, from place: Int64
  ) throws -> Int64? {
    let places: [Int64] = try context.all(
      """
      SELECT rowid FROM \(unsafeRawSQL: old.name) WHERE rowid > \(place) ORDER BY rowid LIMIT \(rowsPerPart)
      """
    ) { try $0.integer(0) }
    guard let last = places.last else { return nil }
    let vault = try keys.vault(in: context)
    let rows = SignedRows(vault, VerifiedRowCache(), keyPairs: keyPairs)
    let stored = try rows.all(context, old, "\(all: old) WHERE rowid > \(place) AND rowid <= \(last)")
    for row in stored {
      let values = try convert(row.values, vault)
      let changes = zip(new.columns, values).map { (name: $0.0.name, value: $0.1) }
      try rows.update(
        context, new, Stored(record: values, values: values, signature: row.signature), changes)
    }
    return last
  }
}

extension Resigning.RawTable {
  /// A table of rows that are not read as records.
  init(raw name: String, version: UInt8, signer: Signer, key keyCount: Int = 1, _ columns: [Column]) {
    self.init(name, version: version, signer: signer, key: keyCount, columns) { values, _ in
      values
    } decode: { fields, _ throws(UnreadableRow) in
      try fields.all()
    }
  }
}
