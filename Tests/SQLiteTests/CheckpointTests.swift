internal import Glibc
internal import SQLite
internal import TestSupport
internal import Testing

@Suite("Checkpoints of the write-ahead log")
struct CheckpointTests {
  @Test func `the write-ahead log is checkpointed while the service writes`() async throws {
    try await withThings({
      $0.writer.passivePages = 10
      $0.writer.forcedPages = 20
    }) { database in
      for number in 0..<200 {
        try await database.write { try insert("n\(number)", in: $0) }
      }
      #expect(database.statistics.checkpoints > 5)
      #expect(database.statistics.logPages < 40)
      #expect(logSize(database) < 60 * 4_120)
    }
  }

  @Test func `the file of the write-ahead log is emptied when the service is idle`() async throws {
    try await withThings({
      $0.writer.quietNanoseconds = 1_000_000
      $0.writer.truncateNanoseconds = 1_000_000
    }) { database in
      try await database.write { try insert("a", in: $0) }
      try await eventually("an empty log") { logSize(database) == 0 ? true : nil }
      try await database.write { try insert("b", in: $0) }
      #expect(try await database.names() == ["a", "b"])
    }
  }

  @Test func `a long read delays the checkpoint but not the writes`() async throws {
    try await withThings({
      $0.writer.passivePages = 5
      $0.writer.maximumPages = 30
      $0.readers = 1
    }) { database in
      try await database.write { try insert("a", in: $0) }
      let inside = Flag("the read runs")
      let end = Flag("the test lets go")
      async let reading = database.read { context in
        let before = try context.value("SELECT count(*) FROM thing", as: Int.self)
        inside.raise()
        _ = try? end.block()
        return before
      }
      try await inside.wait()
      for number in 0..<40 { try await database.write { try insert("n\(number)", in: $0) } }
      #expect(database.statistics.incompleteCheckpoints > 0)
      #expect(database.statistics.logOverLimit > 0)
      end.raise()
      #expect(try await reading == 1)
      database.checkpointSoon()
      try await eventually("an empty log") { logSize(database) == 0 ? true : nil }
    }
  }

  private func logSize(_ database: Database) -> Int {
    var status = stat()
    return unsafe stat("\(database.path)-wal", &status) == 0 ? Int(status.st_size) : 0
  }
}
