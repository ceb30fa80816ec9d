internal import SQLite
internal import StorageFaults
internal import TestSupport
internal import Testing

@Suite("Migrations of SQLite databases")
struct MigrationTests {
  private let second = Migration("second") { try $0.run("ALTER TABLE thing ADD COLUMN extra TEXT") }

  @Test func `migrations run once and in order`() async throws {
    try await withTemporaryFolder { folder in
      let path = "\(folder)/things.db"
      var options = things(at: path)
      let first = try Database(options)
      try await first.write { try insert("a", in: $0) }
      first.close()
      options.migrations.append(second)
      for _ in 0..<2 {
        let database = try Database(options)
        let state = try await database.read { context in
          (
            try context.value("PRAGMA user_version", as: Int.self),
            try context.all("SELECT name FROM schema_migration ORDER BY position") {
              try $0.text(0)
            },
            try context.value("SELECT count(*) FROM thing WHERE extra IS NULL", as: Int.self)
          )
        }
        #expect(state.0 == 2)
        #expect(state.1 == ["things", "second"])
        #expect(state.2 == 1)
        database.close()
      }
    }
  }

  @Test func `a migration may add a column for which SQLite checks the whole file`() async throws {
    try await withTemporaryFolder { folder in
      var options = things(at: "\(folder)/things.db")
      options.migrations.append(
        Migration("checked") {
          try $0.run("CREATE TABLE strict (id INTEGER PRIMARY KEY) STRICT")
          try $0.run("INSERT INTO strict VALUES (1)")
          // SQLite 3.40 runs PRAGMA quick_check for a CHECK constraint, 3.46 for any column of a STRICT table.
          try $0.run("ALTER TABLE strict ADD COLUMN colour TEXT CHECK (colour IN ('red', 'blue'))")
        })
      let database = try Database(options)
      #expect(try await database.read { try $0.value("SELECT count(*) FROM strict WHERE colour IS NULL") } == 1)
      database.close()
    }
  }

  @Test(arguments: [("SAVEPOINT mine", "savepoint BEGIN"), ("ATTACH ':memory:' AS other", "ATTACH :memory:")])
  func `a migration that touches its transaction is refused with the name of the statement`(
    text: String, denied: String
  )
    throws
  {
    try withTemporaryFolder { folder in
      var options = things(at: "\(folder)/things.db")
      options.migrations.append(Migration("meddling") { try $0.run("\(unsafeRawSQL: text)") })
      let error = #expect(throws: (any Error).self) { _ = try Database(options) }
      #expect("\(error!)".contains("“not authorized: \(denied)”"), "\(error!)")
    }
  }

  @Test func `each migration and each part reports progress for an existing file, but not for a new one`()
    throws
  {
    try withTemporaryFolder { folder in
      var options = things(at: "\(folder)/things.db")
      let told = Collected<MigrationProgress>()
      options.onMigration = { told.add($0) }
      try Database(options).close()
      options.migrations += [
        second,
        Migration("long") { _ in
        } inParts: { _, place in
          place < 3 ? max(place, 0) + 1 : nil
        },
      ]
      try Database(options).close()
      try Database(options).close()
      #expect(told.all.map { "\($0.step) \($0.parts)" } == ["second 0", "long 0", "long 1", "long 2", "long 3"])
    }
  }

  @Test func `a file with a newer schema is refused and left unchanged`() throws {
    try withTemporaryFolder { folder in
      var options = things(at: "\(folder)/things.db")
      options.migrations.append(second)
      try Database(options).close()
      let before = try readFile("\(folder)/things.db")
      let error = #expect(throws: OpenFailure.self) { try Database(things(at: options.path)) }
      #expect(
        "\(try #require(error))".contains("schema version 2, this program knows versions up to 1"))
      #expect(try readFile("\(folder)/things.db") == before)
    }
  }

  @Test func `a file with other migrations is refused`() throws {
    try withTemporaryFolder { folder in
      var options = things(at: "\(folder)/things.db")
      try Database(options).close()
      options.migrations = [Migration("other") { try $0.run("CREATE TABLE other (id)") }]
      let error = #expect(throws: OpenFailure.self) { try Database(options) }
      #expect("\(try #require(error))".contains("“things”"))
    }
  }

  @Test func `a file of another program is refused`() throws {
    try withTemporaryFolder { folder in
      var options = things(at: "\(folder)/things.db")
      try Database(options).close()
      options.applicationID = 78
      #expect(throws: OpenFailure.foreignFile(path: options.path, applicationID: 77)) {
        try Database(options)
      }
    }
  }

  @Test func `a failed migration leaves the file unchanged`() throws {
    try withTemporaryFolder { folder in
      var options = things(at: "\(folder)/things.db")
      try Database(options).close()
      options.migrations.append(
        Migration("halfway") { context in
          try context.run("CREATE TABLE half (id INTEGER)")
          throw Refusal(number: 1)
        })
      #expect(throws: Refusal(number: 1)) { try Database(options) }
      let database = try Database(things(at: options.path))
      #expect(
        try !database.readBlocking {
          try $0.exists("SELECT 1 FROM sqlite_schema WHERE name = 'half'")
        })
      database.close()
    }
  }

  @Test func `a migration may rebuild a table that others refer to`() async throws {
    try await withTemporaryFolder { folder in
      var options = things(at: "\(folder)/things.db")
      let first = try Database(options)
      try await first.write { context in
        try insert("parent", in: context)
        try context.run("INSERT INTO thing (name, parent) VALUES ('child', 1)")
      }
      first.close()
      options.migrations.append(
        Migration("rebuild") { context in
          try context.runScript(
            """
            CREATE TABLE fresh (id INTEGER PRIMARY KEY, name TEXT, parent INTEGER REFERENCES thing (id)) STRICT;
            INSERT INTO fresh SELECT id, name, parent FROM thing;
            DROP TABLE thing;
            ALTER TABLE fresh RENAME TO thing;
            """)
        })
      let database = try Database(options)
      #expect(try await database.names() == ["parent", "child"])
      // Foreign keys are checked again after the migration.
      await #expect(throws: SQLiteError.self) {
        try await database.write { try $0.run("INSERT INTO thing (name, parent) VALUES ('x', 9)") }
      }
      database.close()
    }
  }

  @Test func `a migration that breaks foreign keys is rolled back`() throws {
    try withTemporaryFolder { folder in
      var options = things(at: "\(folder)/things.db")
      try Database(options).close()
      options.migrations.append(
        Migration("careless") {
          try $0.run("INSERT INTO thing (name, parent) VALUES ('orphan', 99)")
        })
      let error = #expect(throws: OpenFailure.self) { try Database(options) }
      #expect("\(try #require(error))".contains("“careless”"))
      let database = try Database(things(at: options.path))
      #expect(try database.readBlocking { try $0.value("SELECT count(*) FROM thing") } == 0)
      database.close()
    }
  }

  @Test func `a power cut at any write of a migration leaves a file that the next start completes`() throws {
    try withTemporaryFolder { folder in
      // In each round one more write reaches the disk before the power is cut.
      for round in 1...60 {
        let disk = FaultyDisk()
        var options = things(at: "\(folder)/\(round)/things.db")
        options.migrations.append(second)
        options.fileLayer = disk.name
        disk.fail([.write, .synchronise, .truncate, .delete], at: round, forEver: true)
        let finished = (try? Database(options)) != nil
        disk.heal()
        try makeDisk("\(folder)/\(round)/after", from: disk.survivors())
        options.fileLayer = nil
        options.path = "\(folder)/\(round)/after/things.db"
        let recovered = try Database(options)
        #expect(try recovered.readBlocking { try $0.value("PRAGMA user_version") } == 2)
        recovered.close()
        if finished { return }
      }
      Issue.record("the migrations never finished")
    }
  }
}
