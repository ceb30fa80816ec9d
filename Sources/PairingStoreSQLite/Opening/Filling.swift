import PairingStore
import RegentCryptography
public import RegentSQL
import SQLite

/// A new database file that receives a copy of a store.
///
/// It gets its final name only when it is complete.
public final class SQLiteFilling: Sendable {
  private let database: Database

  /// Creates the database file to fill.
  ///
  /// Blocks the caller.
  public init(at path: String) throws {
    var file = DatabaseOptions(
      path: path, applicationID: Schema.applicationID,
      migrations: Schema.migrations(MigrationKeys(try DataKeys.masterKey(Random.secret(32)))))
    file.schema = try Schema.made.get()
    database = try Database(file)
    do {
      try database.writeBlocking { context in
        // The migrations have written data keys and an audit head of their own into the empty file; delete them.
        for table in Tables.names { try context.run("DELETE FROM \(unsafeRawSQL: table)") }
      }
    } catch {
      database.close()
      throw error
    }
  }

  /// Inserts rows of the copied store unchanged.
  ///
  /// Blocks the caller.
  public func take(_ part: CopiedRows) throws {
    precondition(Tables.names.contains(part.table), "no table of a store: \(part.table)")
    let places = part.columns.map { _ in "?" }.joined(separator: ", ")
    let text = "INSERT INTO \(part.table) (\(part.columns.joined(separator: ", "))) VALUES (\(places))"
    try database.writeBlocking { context in
      for row in part.rows { try context.run(SQL(unsafeRawSQL: text, row)) }
    }
  }

  /// Closes the filled file.
  ///
  /// Blocks the caller.
  public func close() { database.close() }
}

extension SQLiteStore {
  /// Reads every row as of one moment, verifies, counts and hashes it, and passes it on.
  ///
  /// Blocks the caller. `seen` receives the number of rows read so far. `take` receives all rows, table by table, on a
  /// reader thread.
  public func survey(
    seen: @escaping @Sendable (Int) -> Void = { _ in },
    _ take: @escaping @Sendable (CopiedRows) throws -> Void = { _ in }
  ) throws -> StoreWalkResult {
    let survey = StoreWalk(vault: vault, seen: seen)
    return try database.readBlocking { context in try survey.walk(context, take) }
  }
}
