internal import SQLite
internal import StorageFaults
internal import TestSupport
internal import Testing

@Suite("Migrations")
struct MigrationTests {
  private let second = Migration("second") { try $0.run("ALTER TABLE thing ADD COLUMN extra TEXT") }

  @Test func `steps are run once and in order`() async throws {
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

  @Test func `a migration may add a column for which SQLite checks the file`() async throws {
    try await withTemporaryFolder { folder in
      var options = things(at: "\(folder)/things.db")
      options.migrations.append(
        Migration("checked") {
          try $0.run("CREATE TABLE strict (id INTEGER PRIMARY KEY) STRICT")
          try $0.run("INSERT INTO strict VALUES (1)")
          // SQLite 3.40 runs PRAGMA quick_check for a CHECK, 3.46 for any column of a STRICT table.
          try $0.run("ALTER TABLE strict ADD COLUMN colour TEXT CHECK (colour IN ('red', 'blue'))")
        })
      let database = try Database(options)
      #expect(try await database.read { try $0.value("SELECT count(*) FROM strict WHERE colour IS NULL") } == 1)
      database.close()
    }
  }

  @Test(arguments: [("SAVEPOINT mine", "savepoint BEGIN"), ("ATTACH ':memory:' AS other", "ATTACH :memory:")])
  func `a migration that touches its transaction is refused, and the error names what`(text: String, denied: String)
    throws
  {
    try withTemporaryFolder { folder in
      var options = things(at: "\(folder)/things.db")
      options.migrations.append(Migration("meddling") { try $0.run("\(unsafeRawSQL: text)") })
      let error = #expect(throws: (any Error).self) { _ = try Database(options) }
      #expect("\(error!)".contains("“not authorized: \(denied)”"), "\(error!)")
    }
  }

  @Test func `whoever waits is told of each step and part on a file that holds something, never on a new one`()
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

  @Test func `a newer file is refused with a sentence and left alone`() throws {
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

  @Test func `a file with other steps is refused`() throws {
    try withTemporaryFolder { folder in
      var options = things(at: "\(folder)/things.db")
      try Database(options).close()
      options.migrations = [Migration("other") { try $0.run("CREATE TABLE other (id)") }]
      let error = #expect(throws: OpenFailure.self) { try Database(options) }
      #expect("\(try #require(error))".contains("“things”"))
    }
  }

  @Test func `the file of another program is refused`() throws {
    try withTemporaryFolder { folder in
      var options = things(at: "\(folder)/things.db")
      try Database(options).close()
      options.applicationID = 78
      #expect(throws: OpenFailure.foreignFile(path: options.path, applicationID: 77)) {
        try Database(options)
      }
    }
  }

  @Test func `a step that fails leaves the file as it was`() throws {
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

  @Test func `a step may rebuild a table that others point to`() async throws {
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
      // The checks are on again afterwards.
      await #expect(throws: SQLiteError.self) {
        try await database.write { try $0.run("INSERT INTO thing (name, parent) VALUES ('x', 9)") }
      }
      database.close()
    }
  }

  @Test func `a step that breaks references is rolled back`() throws {
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

  @Test func `a power cut at any write leaves a file before or after a step`() throws {
    try withTemporaryFolder { folder in
      // Each round lets one write more reach the disk, then cuts the power.
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
