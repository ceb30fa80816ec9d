import PairingStore
import RegentPairing
import SQLite

/// Converts all rows of a table to another signed form (list of signed columns), for a migration that adds a column to
/// a signed table.
///
/// A row that fails verification in the old form is left unchanged, so that it fails afterwards, too. A migration
/// states both forms itself. It cannot use ``Tables``, which has today's forms, because a released migration must never
/// change.
struct Resigning: Sendable {
  /// A row as its values, without a record type.
  typealias RawTable = Table<[SQLValue]>

  let old: RawTable
  let new: RawTable
  /// The encoding that rows of key pairs have when this migration runs.
  let keyPairs: Table<KeyPair>
  /// Converts a row's values to the new form.
  let convert: @Sendable (_ old: [SQLValue], Vault) throws -> [SQLValue]
  /// The number of rows that one transaction converts.
  var rowsPerPart = 500

  /// The migration: first the change of the schema, then the conversion of all rows in parts.
  func migration(
    _ name: String, _ keys: MigrationKeys,
    schema: @escaping @Sendable (borrowing WriteContext) throws -> Void
  ) -> Migration {
    Migration(name) { context in
      try schema(context)
      // The keys are opened before the first step is committed, so that a wrong master key leaves the file unchanged.
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
  /// Declares a table whose rows are not decoded into records.
  init(raw name: String, version: UInt8, signer: Signer, key keyCount: Int = 1, _ columns: [Column]) {
    self.init(name, version: version, signer: signer, key: keyCount, columns) { values in
      values
    } decode: { fields throws(UnreadableRow) in
      try fields.all()
    }
  }
}
