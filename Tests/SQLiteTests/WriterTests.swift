internal import SQLite
internal import Synchronization
internal import TestSupport
internal import Testing

@Suite("The writer thread of SQLite")
struct WriterTests {
  @Test func `an acknowledged write can be read at once`() async throws {
    try await withThings { database in
      let count = try await database.write { context in
        try context.run("INSERT INTO thing (name) VALUES (\("a")), (\("b"))")
      }
      #expect(count == 2)
      #expect(try await database.names() == ["a", "b"])
      #expect(
        try database.writeBlocking { try $0.run("DELETE FROM thing WHERE name = \("b")") } == 1)
      #expect(try database.readBlocking { try $0.value("SELECT count(*) FROM thing") } == 1)
    }
  }

  @Test func `a write sees its own changes, and RETURNING gives rows`() async throws {
    try await withThings { database in
      let rows = try await database.write { context in
        try insert("a", in: context)
        #expect(try context.exists("SELECT 1 FROM thing WHERE name = 'a'"))
        return try context.all("UPDATE thing SET name = name || 'x' RETURNING id, name") {
          "\(try $0.integer(0)) \(try $0.text(1))"
        }
      }
      #expect(rows == ["1 ax"])
    }
  }

  @Test func `the number of changed rows counts one statement without cascades`() async throws {
    try await withThings { database in
      let counts = try await database.write { context in
        [
          try context.run("INSERT INTO thing (name) VALUES ('a'), ('b')"),
          try context.run("UPDATE thing SET name = 'c' WHERE name = 'nobody'"),
          try context.run("CREATE TABLE other (id INTEGER PRIMARY KEY)"),
          try context.run("UPDATE thing SET parent = 1 WHERE name = 'b'"),
          // The cascade also deletes the second row, which is not counted.
          try context.run("DELETE FROM thing WHERE name = 'a'"),
          try context.value("SELECT count(*) FROM thing") ?? -1,
        ]
      }
      #expect(counts == [2, 0, 0, 1, 1, 0])
    }
  }

  @Test func `the change counter advances with changes of watched tables, before the request is answered`() async throws
  {
    try await withThings({ $0.moves = { table, change in table == "thing" && change != .insert } }) { database in
      let start = database.mark
      try await database.write { try insert("a", in: $0) }
      #expect(database.mark == start)
      try await database.write { _ = try $0.run("UPDATE thing SET name = 'b' WHERE name = 'nobody'") }
      #expect(database.mark == start, "no row was changed")
      let told = Atomic(UInt64(0))
      let isDone = Flag("the write was answered")
      database.write {
        try $0.run("UPDATE thing SET name = 'b'")
      } completion: { (_: Result<Int, any Error>) in
        told.store(database.mark, ordering: .releasing)
        isDone.raise()
      }
      try await isDone.wait()
      #expect(told.load(ordering: .acquiring) > start)
      let changed = database.mark
      await #expect(throws: (any Error).self) {
        try await database.write { context in
          try context.run("DELETE FROM thing")
          throw TestSupportError("no")
        }
      }
      #expect(database.mark == changed, "a rolled-back change does not move the mark")
      try await database.write { _ = try $0.run("DELETE FROM thing WHERE name = 'b'") }
      #expect(database.mark > changed)
    }
  }

  @Test func `a request sees whether an earlier request of its transaction advances the change counter`() async throws {
    try await withThings({ $0.moves = { _, change in change == .update } }) { database in
      try await database.write { try insert("a", in: $0) }
      let gate = Gate()
      try await gate.close(database)
      let answers = Collected<Bool>()
      func look() {
        database.write({ $0.movesMark }) { (known: Result<Bool, any Error>) in answers.add((try? known.get()) ?? false)
        }
      }
      look()
      database.writeLater { _ = try $0.run("UPDATE thing SET name = 'b'") }
      look()
      gate.open()
      #expect(try await answers.wait(for: 2) == [false, true])
      #expect(try await !database.write { $0.movesMark }, "the next transaction starts without a moved mark")
    }
  }

  @Test func `requests that are queued together share one commit`() async throws {
    // The gate keeps the batch open until this test has filled the queue.
    try await withThings({ $0.writer.batchNanoseconds = 3_600_000_000_000 }) { database in
      let gate = Gate()
      try await gate.close(database)
      let before = database.statistics.commits
      let answers = Collected<Int>()
      for number in 1...20 {
        database.write({ try insert("n\(number)", in: $0) }) { (result: Result<Void, any Error>) in
          if case .success = result { answers.add(number) }
        }
      }
      #expect(answers.all.isEmpty)
      gate.open()
      #expect(try await answers.wait(for: 20) == Array(1...20))
      #expect(database.statistics.commits == before + 1)
      #expect(database.statistics.batchSizes.largest == 21)
    }
  }

  @Test func `the number of requests in a batch is limited`() async throws {
    try await withThings({ $0.writer.batchRequests = 8 }) { database in
      let gate = Gate()
      try await gate.close(database)
      let answers = Collected<Bool>()
      for number in 0..<40 {
        database.write({ try insert("n\(number)", in: $0) }) { (result: Result<Void, any Error>) in
          answers.add((try? result.get()) != nil)
        }
      }
      gate.open()
      let all = try await answers.wait(for: 40)
      #expect(all.allSatisfy { $0 })
      #expect(database.statistics.batchSizes.largest == 8)
    }
  }

  @Test func `a failed request in a batch is undone alone`() async throws {
    try await withThings { database in
      let gate = Gate()
      try await gate.close(database)
      let answers = Collected<String>()
      for number in 0..<9 {
        database.write({ context in
          try insert("n\(number)", in: context)
          if number % 3 == 1 { throw Refusal(number: number) }
          if number % 3 == 2 { try insert("n\(number)", in: context) }
        }) { (result: Result<Void, any Error>) in
          switch result {
          case .success: answers.add("ok")
          case .failure(let error as Refusal): answers.add("refused \(error.number)")
          case .failure(let error as SQLiteError): answers.add("code \(error.code.number)")
          case .failure: answers.add("other")
          }
        }
      }
      gate.open()
      #expect(
        try await answers.wait(for: 9) == [
          "ok", "refused 1", "code 2067", "ok", "refused 4", "code 2067", "ok", "refused 7",
          "code 2067",
        ])
      #expect(try await database.names() == ["n0", "n3", "n6"])
      #expect(database.statistics.failedRequests == 6)
    }
  }

  @Test func `a single failed request leaves nothing, and the next one works`() async throws {
    try await withThings { database in
      await #expect(throws: Refusal(number: 1)) {
        try await database.write { context in
          try insert("a", in: context)
          throw Refusal(number: 1)
        }
      }
      #expect(try await database.names() == [])
      try await database.write { try insert("b", in: $0) }
      #expect(try await database.names() == ["b"])
    }
  }

  @Test func `a violated deferred constraint fails only its own request`() async throws {
    try await withThings { database in
      let gate = Gate()
      try await gate.close(database)
      async let good: Void = database.write { try insert("good", in: $0) }
      let bad = Task {
        try await database.write {
          try $0.run("INSERT INTO thing (name, later) VALUES ('bad', 99)")
        }
      }
      async let alsoGood: Void = database.write { try insert("also good", in: $0) }
      gate.open()
      try await good
      let error = await #expect(throws: SQLiteError.self) { _ = try await bad.value }
      #expect(error?.code == .constraintForeignKey)
      try await alsoGood
      #expect(Set(try await database.names()) == ["good", "also good"])
    }
  }

  @Test(arguments: [
    "COMMIT", "ROLLBACK", "BEGIN", "SAVEPOINT mine", "RELEASE request", "ROLLBACK TO request",
    "ATTACH ':memory:' AS other", "PRAGMA synchronous = OFF", "PRAGMA wal_checkpoint", "VACUUM",
  ])
  func `a request cannot change its transaction or the settings`(text: String) async throws {
    try await withThings { database in
      let gate = Gate()
      try await gate.close(database)
      async let before: Void = database.write { try insert("before", in: $0) }
      async let meddling: Int = database.write { context in
        try insert("meddling", in: context)
        // The request hides the refusal, but the statement must have had no effect.
        return (try? context.run("\(unsafeRawSQL: text)")) == nil ? 1 : 0
      }
      async let after: Void = database.write { try insert("after", in: $0) }
      gate.open()
      _ = try await (before, after)
      let refused = try await meddling
      #expect(refused == 1)
      #expect(Set(try await database.names()) == ["before", "meddling", "after"])
    }
  }

  @Test func `requests run in the order in which they were submitted`() async throws {
    try await withThings { database in
      let answers = Collected<Int>()
      for number in 0..<500 {
        database.write({ try insert("n\(number)", in: $0) }) { (_: Result<Void, any Error>) in
          answers.add(number)
        }
      }
      #expect(try await answers.wait(for: 500) == Array(0..<500))
      let names = try await database.names()
      #expect(names == (0..<500).map { "n\($0)" })
    }
  }

  @Test func `many concurrent writers are all served`() async throws {
    try await withThings { database in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 0..<32 {
          group.addTask {
            for step in 0..<20 {
              try await database.write { try insert("\(writer)-\(step)", in: $0) }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try await database.names().count == 640)
      #expect(database.statistics.requests == 640)
      #expect(database.statistics.commits <= 640)
      #expect(database.statistics.commitMicroseconds.count == database.statistics.commits)
      #expect(database.statistics.batchSizes.sum == 640)
    }
  }

  @Test func `requests beyond the queue's capacity are refused at once`() async throws {
    try await withThings({ $0.writer.queueCapacity = 3 }) { database in
      let gate = Gate()
      try await gate.close(database)
      let answers = Collected<String>()
      for number in 0..<5 {
        database.write({ try insert("n\(number)", in: $0) }) { (result: Result<Void, any Error>) in
          do { answers.add("\(number) \(try result.get())") } catch {
            answers.add("\(number) \(error)")
          }
        }
      }
      #expect(answers.all.count == 2)
      #expect(answers.all.allSatisfy { $0.contains("waiting already") })
      gate.open()
      #expect(try await answers.wait(for: 5).count == 5)
      #expect(try await database.names() == ["n0", "n1", "n2"])
    }
  }

  @Test func `closing serves queued requests and refuses later ones`() async throws {
    try await withThings { database in
      let gate = Gate()
      try await gate.close(database)
      async let waiting: Void = database.write { try insert("a", in: $0) }
      try await eventually("a read") {
        _ = try await database.names()
        return database.statistics.reads > 0
      }
      let closing = Task.detached { database.close() }
      gate.open()
      try await waiting
      await closing.value
      await #expect(throws: DatabaseFailure.closed) {
        try await database.write { try insert("b", in: $0) }
      }
      await #expect(throws: DatabaseFailure.closed) { _ = try await database.names() }
    }
  }
}

struct Refusal: Error, Equatable { let number: Int }
