internal import Glibc
@testable internal import SQLite
internal import RegentPlatform
internal import StorageFaults
internal import TestSupport
internal import Testing

@Suite("The SQLite database on a failing disk")
struct FaultTests {
  @Test func `a full disk refuses writes, still allows reads, and recovers without a restart`() async throws {
    let disk = FaultyDisk()
    try await withThings({ $0.fileLayer = disk.name }) { database in
      try await database.write { try insert("before", in: $0) }
      disk.setCapacity(disk.size + 5_000)
      for attempt in 0..<3 {
        let error = await #expect(throws: DatabaseFailure.self) {
          for number in 0..<100 {
            try await database.write { context in
              try context.run(
                "INSERT INTO thing (name, body) VALUES (\("\(attempt) \(number)"), zeroblob(9000))")
            }
          }
        }
        guard case .diskFull(let cause)? = error else {
          Issue.record("\(String(describing: error))")
          return
        }
        #expect(cause.code == .full)
        #expect(error?.nothingWritten == true)
      }
      #expect(try await database.names().first == "before")
      #expect(database.stopped == nil)
      #expect(database.statistics.diskFull > 0)
      disk.setCapacity(nil)
      try await database.write { try insert("after", in: $0) }
      #expect(try await database.names().last == "after")
    }
  }

  @Test func `a single write that meets a full disk in its statement is counted`() async throws {
    let disk = FaultyDisk()
    try await withThings({ $0.fileLayer = disk.name }) { database in
      try await database.write { try insert("before", in: $0) }
      let error = await failure {
        try await database.write { context in
          // Exceeds SQLite's cache, so that the statement itself must write to the disk.
          disk.fail([.write], at: 1, with: .full)
          try context.run(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000)
            INSERT INTO thing (name, body) SELECT 'n' || i, zeroblob(3000) FROM n
            """)
        }
      }
      guard case .diskFull? = error as? DatabaseFailure else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(database.statistics.diskFull == 1)
      #expect(try await database.names() == ["before"])
    }
  }

  @Test func `an exceeded quota is treated as a full disk and recovers without a restart`() async throws {
    let disk = FaultyDisk()
    try await withThings({ $0.fileLayer = disk.name }) { database in
      try await database.write { try insert("before", in: $0) }
      disk.fail([.write], at: 1, with: .overQuota)
      let error = await failure { try await database.write { try insert("refused", in: $0) } }
      guard case .diskFull(let cause)? = error as? DatabaseFailure else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect("\(cause)".contains("over quota"))
      try await database.write { try insert("after", in: $0) }
      #expect(try await database.names() == ["before", "after"])
      #expect(database.stopped == nil)
    }
  }

  @Test func `closing does not wait forever for a disk that does not answer`() async throws {
    let disk = FaultyDisk()
    try await withTemporaryFolder { folder in
      var options = things(at: "\(folder)/things.db")
      options.fileLayer = disk.name
      options.writer.closingNanoseconds = 10_000_000
      let database = try Database(options)
      let answers = Collected<String>()
      let note: @Sendable (Result<Void, any Error>) -> Void = { result in
        switch result {
        case .success: answers.add("written")
        case .failure(let error): answers.add("\(error)")
        }
      }
      disk.hold()
      database.write({ try insert("held", in: $0) }, completion: note)
      disk.waitUntilHeld()
      database.write({ try insert("late", in: $0) }, completion: note)
      database.close()
      // The lock on the file stays as long as the old writer may still write.
      #expect(throws: FileError.self) { try Database(options) }
      disk.letGo()
      #expect(try await answers.wait(for: 2) == ["written", "the database is closed"])
      database.writer.join()
    }
  }

  @Test func `closing on a slow disk leaves the checkpoint to the next opening`() async throws {
    let disk = FaultyDisk()
    try await withTemporaryFolder { folder in
      var options = things(at: "\(folder)/things.db")
      options.fileLayer = disk.name
      options.writer.slowCommitNanoseconds = 0
      let database = try Database(options)
      try await database.write { try insert("kept", in: $0) }
      let forces = disk.count(of: .synchronise)
      database.close()
      #expect(disk.count(of: .synchronise) == forces)
      let again = try Database(options)
      #expect(try await again.names() == ["kept"])
      again.close()
    }
  }

  @Test func `a disk that fills up during a batch undoes the whole batch and answers every request`()
    async throws
  {
    let disk = FaultyDisk()
    try await withThings({ $0.fileLayer = disk.name }) { database in
      let gate = Gate()
      try await gate.close(database)
      let answers = Collected<Bool>()
      for number in 0..<10 {
        database.write({ context in
          try context.run("INSERT INTO thing (name, body) VALUES (\("n\(number)"), zeroblob(3000))")
        }) { (result: Result<Int, any Error>) in
          guard case .failure(let error as DatabaseFailure) = result, case .diskFull = error else {
            return answers.add(false)
          }
          answers.add(true)
        }
      }
      disk.setCapacity(disk.size)
      gate.open()
      #expect(try await answers.wait(for: 10) == Array(repeating: true, count: 10))
      #expect(try await database.names() == [])
      disk.setCapacity(nil)
      try await database.write { try insert("after", in: $0) }
      #expect(try await database.names() == ["after"])
    }
  }

  @Test(arguments: [FaultyDisk.Operation.synchronise, .write])
  func `an I/O error at the commit stops the writer and reports an unknown outcome`(
    operation: FaultyDisk.Operation
  ) async throws {
    let disk = FaultyDisk()
    let stops = Collected<SQLiteError>()
    try await withTemporaryFolder { folder in
      var options = things(at: "\(folder)/things.db")
      options.fileLayer = disk.name
      options.onFailStop = { stops.add($0) }
      let database = try Database(options)
      try await database.write { try insert("before", in: $0) }
      let gate = Gate()
      try await gate.close(database)
      // With completions, all three are queued when the gate opens, so they share a transaction.
      let answers = Collected<any Error>()
      let refuse: @Sendable (Result<Void, any Error>) -> Void = { result in
        if case .failure(let error) = result { answers.add(error) }
      }
      database.write({ _ in throw Refusal(number: 5) }, completion: refuse)
      database.write({ try insert("first", in: $0) }, completion: refuse)
      database.write({ try insert("second", in: $0) }, completion: refuse)
      disk.fail([operation], at: 1)
      gate.open()
      let errors = try await answers.wait(for: 3)
      // The first request was rolled back before the commit, so its outcome is certain.
      #expect(errors[0] as? Refusal == Refusal(number: 5))
      for error in errors.dropFirst() {
        guard case .outcomeUnknown(let cause)? = error as? DatabaseFailure else {
          Issue.record("\(error)")
          continue
        }
        #expect(ResultCode.inputOutput ~= cause.code)
      }
      let later = await failure { try await database.write { try insert("later", in: $0) } }
      guard case .stopped? = later as? DatabaseFailure else {
        Issue.record("\(String(describing: later))")
        return
      }
      #expect(try await stops.wait(for: 1).count == 1)
      // Reads are refused, too, because these rows may be gone after the next start.
      let read = await failure { _ = try await database.names() }
      guard case .stopped? = read as? DatabaseFailure else {
        Issue.record("\(String(describing: read))")
        return
      }
      database.close()
      disk.heal()
      let again = try Database(options)
      let names = try await again.names()
      #expect(names.first == "before")
      // Both rows or neither, because they share a transaction.
      #expect(names == ["before"] || Set(names) == ["before", "first", "second"])
      try await again.write { try insert("later", in: $0) }
      again.close()
    }
  }

  @Test func `the writer stops after an I/O error even if the request hides the error`() async throws {
    let disk = FaultyDisk()
    try await withTemporaryFolder { folder in
      var options = things(at: "\(folder)/things.db")
      options.fileLayer = disk.name
      let database = try Database(options)
      let error = await failure {
        try await database.write { context in
          // Exceeds SQLite's cache, so that the statement itself must write to the disk.
          disk.fail([.write], at: 1, forEver: true)
          _ = try? context.run(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000)
            INSERT INTO thing (name, body) SELECT 'n' || i, zeroblob(3000) FROM n
            """)
        }
      }
      guard case .outcomeUnknown? = error as? DatabaseFailure else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(database.stopped != nil)
      database.close()
      disk.heal()
    }
  }

  @Test
  func `after a failed fsync the next start does not rely on pages that never reached the disk`()
    async throws
  {
    #expect(try await rowsLostAfterFailedFsync(lie: nil) == [])
    // With the repair at opening disabled, rows must be lost, which shows that the test works. A slow machine may
    // have checkpointed before the fault, and then there is nothing to lose, so this tries again.
    var lost: Set<String> = []
    for _ in 0..<5 where lost.isEmpty {
      lost = try await rowsLostAfterFailedFsync(lie: .rewrite)
    }
    #expect(!lost.isEmpty)
  }

  private func rowsLostAfterFailedFsync(
    lie: FaultyDisk.Lie?
  ) async throws -> Set<String> {
    let disk = FaultyDisk()
    return try await withTemporaryFolder { folder in
      var options = things(at: "\(folder)/things.db")
      options.fileLayer = disk.name
      disk.lie(about: lie)
      let database = try Database(options)
      try await database.write { try insert("before", in: $0) }
      disk.fail([.synchronise], at: 1)
      _ = await failure { try await database.write { try insert("unknown", in: $0) } }
      database.close()
      disk.heal()
      let again = try Database(options)
      try await again.write { try insert("acknowledged", in: $0) }
      let files = disk.survivors()
      again.close()
      try makeDisk("\(folder)/after", from: files)
      let recovered = try Database(things(at: "\(folder)/after/things.db"))
      defer { recovered.close() }
      return Set(["before", "acknowledged"]).subtracting(try await recovered.names())
    }
  }
}

/// The error that `body` throws; nil if it succeeds.
func failure(_ body: () async throws -> Void) async -> (any Error)? {
  do {
    try await body()
    return nil
  } catch {
    return error
  }
}
