internal import SQLite
internal import StorageFaults
internal import TestSupport
internal import Testing

/// The table of most tests: a number, a unique name and a row that may refer to another.
let thingsMigration = Migration("things") { context in
  try context.runScript(
    """
    CREATE TABLE thing (
      id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, body BLOB,
      parent INTEGER REFERENCES thing (id) ON DELETE CASCADE,
      later INTEGER REFERENCES thing (id) DEFERRABLE INITIALLY DEFERRED
    ) STRICT;
    CREATE INDEX thing_parent ON thing (parent);
    """)
}

func things(at path: String) -> DatabaseOptions {
  var options = DatabaseOptions(path: path, applicationID: 77, migrations: [thingsMigration])
  // Tests use a gate to decide which requests share a transaction, so time must not end a batch.
  options.writer.batchNanoseconds = 3_600_000_000_000
  return options
}

/// Runs a test with a database in its own folder, closes it, and checks the integrity of the file.
func withThings(
  _ change: (inout DatabaseOptions) -> Void = { _ in },
  _ body: (Database) async throws -> Void
) async throws {
  try await withTemporaryFolder { folder in
    var options = things(at: "\(folder)/data/things.db")
    // Writes real files, but does not wait for the hardware (fsync).
    options.fileLayer = FaultyDisk().name
    change(&options)
    let database = try Database(options)
    do {
      try await body(database)
    } catch {
      database.close()
      throw error
    }
    database.close()
    #expect(try Database.problems(inFileAt: database.path) == [])
  }
}

func insert(_ name: String, in context: borrowing WriteContext) throws {
  try context.run("INSERT INTO thing (name) VALUES (\(name))")
}

extension Database {
  func names() async throws -> [String] {
    try await read { try $0.all("SELECT name FROM thing ORDER BY id") { try $0.text(0) } }
  }
}

/// Blocks the writer thread inside a request, so that the requests submitted meanwhile share a transaction.
final class Gate: Sendable {
  private let reached = Flag("the writer reaches the gate")
  private let opened = Flag("the gate opens")

  /// Returns when the writer thread waits at the gate.
  func close(_ database: Database) async throws {
    let reached = reached
    let opened = opened
    database.writeLater { _ in
      reached.raise()
      _ = try? opened.block()
    }
    try await reached.wait()
  }

  func open() { opened.raise() }
}
