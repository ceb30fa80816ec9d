internal import Glibc
internal import SQLite
internal import TestSupport
internal import Testing

@Suite("Backup")
struct BackupTests {
  @Test func `a backup is whole, private and of one moment, while others write`() async throws {
    try await withThings { database in
      for number in 0..<50 { try await database.write { try insert("n\(number)", in: $0) } }
      let target = "\(database.path).backup"
      let stop = Signal()
      defer { stop.give() }
      async let writing = Task.detached {
        var number = 50
        while !stop.isGiven {
          let name = "n\(number)"
          try await database.write { try insert(name, in: $0) }
          number += 1
        }
        return number
      }.value
      try await Task.detached { try database.backup(to: target) }.value
      stop.give()
      let last = try await writing
      var status = stat()
      #expect(unsafe lstat(target, &status) == 0 && status.st_mode & 0o7777 == 0o600)
      #expect(unsafe access("\(target).partial", F_OK) != 0)
      // A backup is a database: it opens, and holds a beginning of what was written.
      let restored = try Database(things(at: target))
      let names = try await restored.names()
      restored.close()
      #expect(names.count >= 50 && names.count <= last)
      #expect(names == (0..<names.count).map { "n\($0)" })
    }
  }

  @Test func `a backup never overwrites`() async throws {
    try await withThings { database in
      let target = "\(database.path).backup"
      try writeFile(target, [1, 2, 3])
      #expect(throws: BackupFailure.exists(target)) { try database.backup(to: target) }
      #expect(try readFile(target) == [1, 2, 3])
    }
  }

  @Test func `the rest of an interrupted backup is taken over`() async throws {
    try await withThings { database in
      let target = "\(database.path).backup"
      try writeFile("\(target).partial", [1, 2, 3])
      try database.backup(to: target)
      #expect(try Database.problems(inFileAt: target) == [])
    }
  }

  @Test func `deleted rows are not in a backup`() async throws {
    try await withThings { database in
      try await database.write { try insert("hush-hush-hush", in: $0) }
      try await database.write { try $0.run("DELETE FROM thing") }
      let target = "\(database.path).backup"
      try database.backup(to: target)
      let content = String(decoding: try readFile(target), as: UTF8.self)
      #expect(!content.contains("hush-hush-hush"))
    }
  }

  @Test func `a backup into a directory that is not there says so`() async throws {
    try await withThings { database in
      #expect(throws: (any Error).self) { try database.backup(to: "\(database.path)/no/such") }
    }
  }
}
