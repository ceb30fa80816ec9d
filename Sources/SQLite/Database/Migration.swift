/// One step from one schema to the next.
///
/// Once released, a step is never changed, renamed or removed.
public struct Migration: Sendable {
  /// The step's name, recorded in the file.
  public let name: String
  let apply: @Sendable (borrowing WriteContext) throws -> Void

  /// A step with its name; `apply` runs in a transaction of its own.
  public init(_ name: String, _ apply: @escaping @Sendable (borrowing WriteContext) throws -> Void) {
    self.name = name
    self.apply = apply
  }
}

/// Brings a file to the program's schema.
///
/// The record of a step, the version number and the step's changes are one transaction: a crash leaves a file either
/// before or after a step, never within.
struct Migrator {
  let migrations: [Migration]
  let applicationID: Int32
  let path: String

  func run(in context: borrowing WriteContext) throws {
    let version = try context.connection.value("PRAGMA user_version", as: Int.self) ?? 0
    let marked = try context.connection.value("PRAGMA application_id", as: Int64.self) ?? 0
    let tables =
      try context.connection.value("SELECT count(*) FROM sqlite_schema", as: Int.self) ?? 0
    if tables == 0 && version == 0 && marked == 0 {
      try transaction(context.connection) {
        try context.connection.run("PRAGMA application_id = \(unsafeRawSQL: String(applicationID))")
        try context.connection.run(
          "CREATE TABLE schema_migration (position INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT")
      }
    } else if marked != Int64(applicationID) {
      throw OpenFailure.foreignFile(path: path, applicationID: Int32(truncatingIfNeeded: marked))
    }
    guard version <= migrations.count else {
      throw OpenFailure.newerSchema(path: path, found: version, known: migrations.count)
    }
    try compareNames(in: context.connection)
    // With the checks on, rebuilding a table would delete the rows that point to it. They are made up for before
    // COMMIT.
    try context.connection.run("PRAGMA foreign_keys = OFF")
    defer { context.connection.keepReferencesAgain() }
    for (index, migration) in migrations.enumerated().dropFirst(version) {
      try apply(migration, number: index + 1, in: context)
    }
  }

  private func apply(
    _ migration: Migration, number: Int, in context: borrowing WriteContext
  ) throws {
    try transaction(context.connection) {
      context.connection.state.insideRequest = true
      defer { context.connection.state.insideRequest = false }
      try migration.apply(context)
      context.connection.state.insideRequest = false
      // Otherwise the record of the step would be kept without the step.
      guard context.connection.isInTransaction else {
        throw context.connection.state.lastError
          ?? SQLiteError(code: .error, message: "the migration's transaction ended by itself")
      }
      try context.connection.each("PRAGMA foreign_key_check") { row in
        throw OpenFailure.brokenReferences(
          path: path, migration: migration.name, table: try row.text(0))
      }
      try context.connection.run(
        "INSERT INTO schema_migration (position, name) VALUES (\(number), \(migration.name))")
      try context.connection.run("PRAGMA user_version = \(unsafeRawSQL: String(number))")
    }
  }

  private func compareNames(in connection: borrowing Connection) throws {
    try connection.each("SELECT position, name FROM schema_migration ORDER BY position") { row in
      let position: Int = try row.get(0)
      let found = try row.text(1)
      let expected =
        position > 0 && position <= migrations.count ? migrations[position - 1].name : ""
      guard found == expected else {
        throw OpenFailure.foreignMigration(
          path: path, position: position, found: found, expected: expected)
      }
    }
  }

  private func transaction(_ connection: borrowing Connection, _ body: () throws -> Void) throws {
    try connection.run("BEGIN IMMEDIATE")
    do {
      try body()
      try connection.run("COMMIT")
    } catch {
      connection.abandonTransaction()
      throw error
    }
  }
}

extension Connection {
  /// Rolls back after a failure, whose error is the one to report.
  borrowing func abandonTransaction() {
    guard isInTransaction else { return }
    do throws(SQLiteError) { try run("ROLLBACK") } catch { _ = noted(error) }
  }

  fileprivate borrowing func keepReferencesAgain() {
    do throws(SQLiteError) { try run("PRAGMA foreign_keys = ON") } catch { _ = noted(error) }
  }
}
