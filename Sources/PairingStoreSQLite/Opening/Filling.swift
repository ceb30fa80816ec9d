import PairingStore
import RegentCryptography
public import RegentSQL
import SQLite

/// A new file that gets everything a store holds; nothing depends on it before it is whole and gets its name.
public final class SQLiteFilling: Sendable {
  private let database: Database

  /// Makes the file.
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
        // What the steps of the schema write into an empty file: keys and a log of its own.
        for table in Tables.names { try context.run("DELETE FROM \(unsafeRawSQL: table)") }
      }
    } catch {
      database.close()
      throw error
    }
  }

  /// Writes rows as they are.
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

  /// Closes the file.
  ///
  /// Blocks the caller.
  public func close() { database.close() }
}

extension SQLiteStore {
  /// Verifies, counts and hashes every row as it is at one moment, and hands it on.
  ///
  /// Blocks the caller. `seen` is told how many rows there were so far; `take` gets all of them, table by table, on a
  /// reader's thread.
  public func survey(
    seen: @escaping @Sendable (Int) -> Void = { _ in },
    _ take: @escaping @Sendable (CopiedRows) throws -> Void = { _ in }
  ) throws -> StoreSurvey {
    let survey = Survey(vault: vault, seen: seen)
    return try database.readBlocking { context in try survey.walk(context, take) }
  }
}
