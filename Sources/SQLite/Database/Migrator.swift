/// Runs the migrations that a file still needs.
///
/// A migration's changes, its record and the version number are one transaction, so a crash leaves the file before or
/// after a migration, never within. A long migration is recorded when it begins, together with the place it has
/// reached: from then on an older program, which could not read a half migrated file, refuses it.
struct Migrator {
  let migrations: [Migration]
  let applicationID: Int32
  let path: String
  var onProgress: @Sendable (MigrationProgress) -> Void = { _ in }

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
    guard version >= 0, version <= migrations.count else {
      throw OpenFailure.newerSchema(path: path, found: version, known: migrations.count)
    }
    try compareNames(in: context.connection)
    // Foreign keys are not checked during migrations: rebuilding a table would delete the rows that refer to it.
    // References are checked before each COMMIT.
    try context.connection.run("PRAGMA foreign_keys = OFF")
    defer { context.connection.keepReferencesAgain() }
    // A new file is migrated in a moment, so the progress of its migrations is not reported.
    let tell: (MigrationProgress) -> Void = { if version > 0 { onProgress($0) } }
    if version > 0 { try goOn(migrations[version - 1], in: context, tell) }
    for (index, migration) in migrations.enumerated().dropFirst(version) {
      tell(MigrationProgress(step: migration.name, parts: 0))
      try apply(migration, number: index + 1, in: context)
      try goOn(migration, in: context, tell)
    }
  }

  private func apply(
    _ migration: Migration, number: Int, in context: borrowing WriteContext
  ) throws {
    try transaction(context.connection) {
      try guarded(context) { try migration.apply(context) }
      if migration.part != nil {
        // This table exists only while a long migration is under way.
        try context.connection.run("CREATE TABLE schema_migration_progress (place INTEGER NOT NULL) STRICT")
        try context.connection.run("INSERT INTO schema_migration_progress (place) VALUES (\(Int64.min))")
      }
      try checkReferences(migration, in: context)
      try context.connection.run(
        "INSERT INTO schema_migration (position, name) VALUES (\(number), \(migration.name))")
      try context.connection.run("PRAGMA user_version = \(unsafeRawSQL: String(number))")
    }
  }

  /// Continues a long migration to its end.
  ///
  /// Does nothing if the migration is not a long one or has reached its end.
  private func goOn(
    _ migration: Migration, in context: borrowing WriteContext, _ tell: (MigrationProgress) -> Void
  ) throws {
    var parts = 0
    while let place = try placeReached(in: context.connection) {
      guard let part = migration.part else { throw OpenFailure.strayProgress(path: path, migration: migration.name) }
      var isDone = false
      try transaction(context.connection) {
        var next: Int64?
        try guarded(context) { next = try part(context, place) }
        guard let next else {
          try checkReferences(migration, in: context)
          try context.connection.run("DROP TABLE schema_migration_progress")
          isDone = true
          return
        }
        // A part that does not advance would be repeated for ever.
        guard next > place else { throw OpenFailure.stuckMigration(path: path, migration: migration.name) }
        try context.connection.run("UPDATE schema_migration_progress SET place = \(next)")
      }
      if isDone { return }
      parts += 1
      tell(MigrationProgress(step: migration.name, parts: parts))
    }
  }

  private func placeReached(in connection: borrowing Connection) throws -> Int64? {
    let isUnderWay = try connection.value(
      "SELECT count(*) FROM sqlite_schema WHERE name = 'schema_migration_progress'", as: Int.self)
    guard isUnderWay == 1 else { return nil }
    return try connection.value("SELECT place FROM schema_migration_progress", as: Int64.self) ?? Int64.min
  }

  /// Runs a migration's own code under the authorizer, so that it cannot end the transaction that it runs in.
  private func guarded(_ context: borrowing WriteContext, _ body: () throws -> Void) throws {
    context.connection.state.running = .migration
    defer { context.connection.state.running = .ours }
    try body()
    // The migration must not have ended its transaction. Otherwise it would be recorded without its changes.
    guard context.connection.isInTransaction else {
      throw context.connection.state.lastError
        ?? SQLiteError(code: .error, message: "the migration's transaction ended by itself")
    }
  }

  private func checkReferences(_ migration: Migration, in context: borrowing WriteContext) throws {
    try context.connection.each("PRAGMA foreign_key_check") { row in
      throw OpenFailure.brokenReferences(
        path: path, migration: migration.name, table: try row.text(0))
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
