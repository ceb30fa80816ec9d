internal import Glibc
internal import SQLite
internal import StorageFaults
internal import TestSupport
internal import Testing

/// Requests that misbehave must not affect the answers of other requests.
@Suite("Misbehaving database requests")
struct HostileRequestTests {
  @Test func `a request that ended its transaction cannot write outside of it`() async throws {
    try await withThings { database in
      try await database.write { try insert("a", in: $0) }
      let gate = Gate()
      try await gate.close(database)
      async let neighbour: Void = database.write { try insert("neighbour", in: $0) }
      let error = await failure {
        async let meddling: Void = database.write { context in
          // The conflict clause rolls the whole transaction back, so the next statements would commit on their own.
          _ = try? context.run("INSERT OR ROLLBACK INTO thing (name) VALUES ('a')")
          _ = try? context.run("INSERT INTO thing (name) VALUES ('outside')")
          _ = try? context.runScript("INSERT INTO thing (name) VALUES ('outside too')")
        }
        gate.open()
        try await meddling
      }
      #expect((error as? DatabaseFailure)?.nothingWritten == true)
      _ = try? await neighbour
      let names = try await database.names()
      #expect(!names.contains("outside") && !names.contains("outside too"))
    }
  }

  @Test func `a request that hides a full disk commits all of its rows or none`() async throws {
    let disk = FaultyDisk()
    try await withThings({ $0.fileLayer = disk.name }) { database in
      let error = await failure {
        try await database.write { context in
          try insert("first", in: context)
          // Exceeds SQLite's cache: the statement itself meets the full disk, which ends the transaction.
          disk.fail([.write], at: 1, with: .full)
          for number in 0..<40 {
            let made = try? context.run(
              "INSERT INTO thing (name, body) VALUES (\("big \(number)"), zeroblob(900000))")
            if made == nil { break }
          }
          disk.heal()
          _ = try? context.run("INSERT INTO thing (name) VALUES ('outside')")
        }
      }
      let names = try await database.names()
      if error == nil {
        #expect(names.first == "first" && names.last == "outside")
      } else {
        #expect(names == [], "\(String(describing: error))")
      }
    }
  }

  @Test func `a migration that hides the end of its transaction fails`() throws {
    try withTemporaryFolder { folder in
      var options = things(at: "\(folder)/things.db")
      let good = options.migrations
      options.migrations.append(
        Migration("hiding") { context in
          try insert("a", in: context)
          _ = try? context.run("INSERT OR ROLLBACK INTO thing (name) VALUES ('a')")
        })
      #expect(throws: SQLiteError.self) { try Database(options) }
      // The step was not recorded, so the earlier program still opens the file.
      options.migrations = good
      try Database(options).close()
    }
  }

  @Test func `a query inside its own loop and a loop that is left early do not disturb each other`()
    async throws
  {
    try await withThings { database in
      let seen = try await database.write { context in
        for name in ["a", "b", "c"] { try insert(name, in: context) }
        var seen: [String] = []
        try context.each("SELECT name FROM thing ORDER BY id") { outer in
          let name = try outer.text(0)
          _ = try context.first("SELECT name FROM thing ORDER BY id") { try $0.text(0) }
          try context.each("SELECT name FROM thing ORDER BY id") { inner in
            seen.append("\(name)\(try inner.text(0))")
          }
        }
        return seen
      }
      #expect(seen == ["aa", "ab", "ac", "ba", "bb", "bc", "ca", "cb", "cc"])
    }
  }

  @Test func `more nested statements than the cache holds work correctly`() async throws {
    try await withThings { database in
      let depth = try await database.read { try descend(0, in: $0) }
      #expect(depth == 300)
      #expect(try await database.read { try $0.value("SELECT 7") } == 7)
    }
  }

  @Test func `a blob at the size limit is stored, and a larger one is refused`() async throws {
    try await withThings { database in
      let large = [UInt8](repeating: 0xA5, count: 999_000)
      try await database.write {
        try $0.run("INSERT INTO thing (name, body) VALUES ('a', \(large))")
      }
      #expect(try await database.read { try $0.value("SELECT body FROM thing") } == large)
      for size in [1_000_001, 20_000_000] {
        let error = await #expect(throws: SQLiteError.self) {
          try await database.write { context in
            let body = [UInt8](repeating: 1, count: size)
            try context.run("INSERT INTO thing (name, body) VALUES ('b', \(body))")
          }
        }
        #expect(error?.code == .tooBig)
      }
      #expect(try await database.names() == ["a"])
    }
  }

  @Test func `a blocking call on a thread of the database is refused and does not deadlock`()
    async throws
  {
    try await withThings { database in
      let errors = Collected<Int32>()
      database.write({ try insert("a", in: $0) }) { (_: Result<Void, any Error>) in
        errors.add(codeOf { try database.writeBlocking { try insert("b", in: $0) } })
      }
      database.read({ _ in
        errors.add(codeOf { _ = try database.readBlocking { try $0.exists("SELECT 1") } })
      }) { (_: Result<Void, any Error>) in }
      let both = try await errors.wait(for: 2)
      #expect(both == [ResultCode.misuse.number, ResultCode.misuse.number])
      let names = try await database.names()
      #expect(names == ["a"])
    }
  }

  @Test(arguments: [false, true])
  func `a completion may close the database`(reading: Bool) async throws {
    try await withThings { database in
      let closed = Flag("the database is closed")
      if reading {
        database.read({ _ in }) { (_: Result<Void, any Error>) in
          database.close()
          closed.raise()
        }
      } else {
        database.write({ try insert("a", in: $0) }) { (_: Result<Void, any Error>) in
          database.close()
          closed.raise()
        }
      }
      try await closed.wait()
      let later = await failure { try await database.write { try insert("b", in: $0) } }
      #expect(later as? DatabaseFailure == .closed)
    }
  }

  @Test func `a completion may submit further requests, even after a refusal`() async throws {
    try await withThings({ $0.writer.queueCapacity = 4 }) { database in
      let ended = Collected<Bool>()
      @Sendable func ask(_ left: Int, _ name: String) {
        database.write({ try insert("\(name) \(left)", in: $0) }) {
          (result: Result<Void, any Error>) in
          let worked = (try? result.get()) != nil
          if left > 0 { ask(left - 1, name) } else { ended.add(worked) }
        }
      }
      for asker in 0..<20 { ask(30, "asker \(asker)") }
      _ = try await ended.wait(for: 20)
      #expect(database.stopped == nil)
    }
  }

  @Test func `every request is answered exactly once although the database closes`() async throws {
    for _ in 0..<10 {
      try await withThings { database in
        let answers = Collected<Int>()
        let workers = (0..<4).map { worker in
          Task.detached {
            for step in 0..<40 {
              database.write({ try insert("\(worker) \(step)", in: $0) }) {
                (_: Result<Void, any Error>) in answers.add(step)
              }
              database.read({ try $0.value("SELECT count(*) FROM thing", as: Int.self) }) {
                (_: Result<Int?, any Error>) in answers.add(step)
              }
            }
          }
        }
        await Task.detached { database.close() }.value
        for worker in workers { await worker.value }
        let all = try await answers.wait(for: 320)
        #expect(all.count == 320)
      }
    }
  }
}

private func descend(_ level: Int, in context: borrowing ReadContext) throws -> Int {
  guard level < 300 else { return level }
  var reached = 0
  try context.each("SELECT \(unsafeRawSQL: String(level))") { row in
    reached = try descend(level + 1, in: context)
    let mine: Int = try row.get(0)
    #expect(mine == level)
  }
  return reached
}

private func codeOf(_ body: () throws -> Void) -> Int32 {
  do {
    try body()
    return 0
  } catch {
    return (error as? SQLiteError)?.code.number ?? -1
  }
}
