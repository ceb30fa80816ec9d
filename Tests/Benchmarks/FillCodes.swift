internal import PairingStore
internal import PairingStoreSQLite
internal import SQLite

extension SQLiteStore {
  /// Inserts many new codes in one transaction, for benchmarks with a full table.
  ///
  /// The rows are sealed and signed as in `reserve`. The caller must make sure that ids and codes are unused and that
  /// the
  /// requestor and the row key exist. Codes in ascending order are the fastest.
  func fill(
    _ count: Int, _ record: @escaping @Sendable (Int) throws -> RegistrationRecord
  ) async throws(StoreError) {
    try await write { context, rows in
      // With the indexes in place every row would change a random page of each, a million times.
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
