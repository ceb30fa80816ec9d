internal import PairingStore
internal import PairingStoreSQLite
internal import SQLite

extension SQLiteStore {
  /// Keeps many new codes in one transaction: what a busy hour leaves behind, for benchmarks of a full table.
  ///
  /// The rows are sealed and signed as `reserve` does it. That nobody has their ids and codes, and that their requestor
  /// and row key are there, is the caller's to know. Codes in ascending order go in fastest.
  func fill(
    _ count: Int, _ record: @escaping @Sendable (Int) throws -> RegistrationRecord
  ) async throws(StoreError) {
    try await write { context, rows in
      // One row after another would touch a page of each index, here and there, a million times.
      let indexes = try context.all(
        """
        SELECT name, sql FROM sqlite_schema
        WHERE type = 'index' AND tbl_name = 'registration' AND sql IS NOT NULL ORDER BY name
        """
      ) { row in (name: try row.text(0), sql: try row.text(1)) }
      for index in indexes { try context.run("DROP INDEX \(unsafeRawSQL: index.name)") }
      for number in 0..<count {
        try rows.insert(context, Tables.registrations, record(number))
      }
      for index in indexes { try context.run("\(unsafeRawSQL: index.sql)") }
    }
  }
}
