internal import Glibc
@testable internal import SQLite
internal import TestSupport
internal import Testing

@Suite("Readers of SQLite databases")
struct ReaderTests {
  @Test func `a read sees one moment although other tasks write`() async throws {
    try await withThings { database in
      try await database.write { try insert("a", in: $0) }
      let inside = Flag("the read runs")
      let written = Flag("the row is written")
      async let counts = database.read { context in
        let first = try context.value("SELECT count(*) FROM thing", as: Int.self)
        inside.raise()
        _ = try? written.block()
        return [first, try context.value("SELECT count(*) FROM thing", as: Int.self)]
      }
      try await inside.wait()
      try await database.write { try insert("b", in: $0) }
      written.raise()
      #expect(try await counts == [1, 1])
      #expect(try await database.names() == ["a", "b"])
    }
  }

  @Test(arguments: [
    "INSERT INTO thing (name) VALUES ('x')", "DELETE FROM thing", "CREATE TABLE other (id)",
    "PRAGMA user_version = 9", "VACUUM", "ATTACH ':memory:' AS other",
    "PRAGMA journal_mode = DELETE",
  ])
  func `a reader cannot write`(text: String) async throws {
    try await withThings { database in
      _ = try? await database.read { try $0.exists("\(unsafeRawSQL: text)") }
      // Some pragmas return a value instead of failing. What matters is that nothing changed.
      let after = try await database.read { context in
        [
          try context.value(
            "SELECT count(*) FROM sqlite_schema WHERE name = 'other'", as: Int.self),
          try context.value("SELECT count(*) FROM thing", as: Int.self),
          try context.value("PRAGMA user_version", as: Int.self),
        ]
      }
      #expect(after == [0, 0, 1])
      #expect(try await database.read { try $0.value("PRAGMA journal_mode") } == "wal")
    }
  }

  @Test func `an error in a read leaves the reader usable`() async throws {
    try await withThings({ $0.readers = 1 }) { database in
      await #expect(throws: Refusal(number: 3)) {
        _ = try await database.read { context in
          try context.each("SELECT 1 UNION SELECT 2") { _ in throw Refusal(number: 3) }
        }
      }
      let five: Int? = try await database.read { try $0.value("SELECT 5") }
      #expect(five == 5)
    }
  }

  @Test func `queued reads share a snapshot that has every row committed before they were queued`()
    async throws
  {
    try await withThings({ $0.readers = 1 }) { database in
      let inside = Flag("the read runs")
      let opened = Flag("the read goes on")
      async let first = database.read { context in
        let count = try context.value("SELECT count(*) FROM thing", as: Int.self)
        inside.raise()
        _ = try? opened.block()
        return count
      }
      try await inside.wait()
      try await database.write { try insert("a", in: $0) }
      // These reads wait behind the running one, whose snapshot is older than the row.
      let counts = Collected<Result<Int?, any Error>>()
      for number in 0..<40 {
        database.read { context in
          if number % 5 == 0 { throw Refusal(number: number) }
          return try context.value("SELECT count(*) FROM thing", as: Int.self)
        } completion: {
          counts.add($0)
        }
      }
      opened.raise()
      #expect(try await first == 0)
      let found = try await counts.wait(for: 40)
      #expect(found.filter { (try? $0.get()) == 1 }.count == 32)
      #expect(found.filter { if case .failure(let error) = $0 { error is Refusal } else { false } }.count == 8)
    }
  }

  @Test func `closing interrupts a read that would never end`() async throws {
    try await withThings { database in
      let started = Flag("the read runs")
      let endless = Task {
        try await database.read { context in
          started.raise()
          return try context.value(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
            as: Int.self)
        }
      }
      try await started.wait()
      await Task.detached { database.close() }.value
      let error = await #expect(throws: SQLiteError.self) { _ = try await endless.value }
      #expect(error?.code == .interrupted)
    }
  }

  @Test func `every connection has the required SQLite settings`() async throws {
    try await withThings { database in
      for pragma in ["foreign_keys", "query_only", "cell_size_check"] {
        let value = try await database.read {
          try $0.value("PRAGMA \(unsafeRawSQL: pragma)", as: Int.self)
        }
        #expect(value == 1, "\(pragma)")
      }
      for pragma in ["trusted_schema", "mmap_size", "wal_autocheckpoint"] {
        let value = try await database.read {
          try $0.value("PRAGMA \(unsafeRawSQL: pragma)", as: Int.self)
        }
        #expect((value ?? 0) == 0, "\(pragma)")
      }
      #expect(try await database.read { try $0.value("PRAGMA cache_size", as: Int.self) } == -512)
    }
    try withTemporaryFolder { folder in
      try writeFile("\(folder)/x.db", [])
      let writer = try Connection.open("\(folder)/x.db", role: .writer)
      let wanted = [
        "synchronous": 2, "foreign_keys": 1, "cell_size_check": 1, "trusted_schema": 0,
        "wal_autocheckpoint": 0, "busy_timeout": 5_000, "secure_delete": 2, "temp_store": 2,
        "query_only": 0, "cache_size": -2_048,
      ]
      for (pragma, value) in wanted {
        #expect(try writer.value("PRAGMA \(unsafeRawSQL: pragma)") == value, "\(pragma)")
      }
      #expect(throws: SQLiteError.self) {
        try writer.run("INSERT INTO sqlite_schema (name) VALUES ('planted')")
      }
    }
  }
}
