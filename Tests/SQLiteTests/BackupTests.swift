internal import Glibc
internal import RegentPlatform
@testable internal import SQLite
internal import TestSupport
internal import Testing

@Suite("Backups")
struct BackupTests {
  @Test func `a backup is complete, private and shows one moment while other tasks write`() async throws {
    try await withThings { database in
      for number in 0..<50 { try await database.write { try insert("n\(number)", in: $0) } }
      let target = "\(database.path).backup"
      let stop = Flag("the backup is made")
      defer { stop.raise() }
      async let writing = Task.detached {
        var number = 50
        while !stop.isRaised {
          let name = "n\(number)"
          try await database.write { try insert(name, in: $0) }
          number += 1
        }
        return number
      }.value
      try await Task.detached { try database.backup(to: target) }.value
      stop.raise()
      let last = try await writing
      var status = stat()
      #expect(unsafe lstat(target, &status) == 0 && status.st_mode & 0o7777 == 0o600)
      #expect(unsafe access("\(target).partial", F_OK) != 0)
      // A backup is a database that can be opened, with the first rows in the order in which they were written.
      let restored = try Database(things(at: target))
      let names = try await restored.names()
      restored.close()
      #expect(names.count >= 50 && names.count <= last)
      #expect(names == (0..<names.count).map { "n\($0)" })
    }
  }

  @Test func `a backup never overwrites a file`() async throws {
    try await withThings { database in
      let target = "\(database.path).backup"
      try writeFile(target, [1, 2, 3])
      #expect(throws: BackupFailure.exists(target)) { try database.backup(to: target) }
      #expect(try readFile(target) == [1, 2, 3])
    }
  }

  @Test func `a new backup replaces the partial file of an interrupted one`() async throws {
    try await withThings { database in
      let target = "\(database.path).backup"
      try writeFile("\(target).partial", [1, 2, 3])
      try database.backup(to: target)
      #expect(try Database.problems(inFileAt: target) == [])
    }
  }

  @Test func `a backup does not contain deleted rows`() async throws {
    try await withThings { database in
      try await database.write { try insert("hush-hush-hush", in: $0) }
      try await database.write { try $0.run("DELETE FROM thing") }
      let target = "\(database.path).backup"
      try database.backup(to: target)
      let content = String(decoding: try readFile(target), as: UTF8.self)
      #expect(!content.contains("hush-hush-hush"))
    }
  }

  @Test func `a backup into a missing directory fails`() async throws {
    try await withThings { database in
      #expect(throws: (any Error).self) { try database.backup(to: "\(database.path)/no/such") }
    }
  }

  /// With such a target, the backup would delete a file of the database, or SQLite would take the backup for its log
  /// or journal at the next start.
  @Test(arguments: ["", "-wal", "-shm", "-journal", ".lock"])
  func `a backup refuses a file name that belongs to the database`(ending: String) async throws {
    try await withTemporaryFolder { folder in
      let options = things(at: "\(folder)/things.db.partial")
      let database = try Database(options)
      defer { database.close() }
      try await database.write { try insert("a", in: $0) }
      let names = ["\(database.path)\(ending)", "\(folder)/./things.db"]
      for target in names {
        let error = #expect(throws: BackupFailure.self) { try database.backup(to: target) }
        guard case .databaseItself? = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
      }
      #expect(unsafe access(database.path, F_OK) == 0)
      try await database.write { try insert("b", in: $0) }
      #expect(try await database.names() == ["a", "b"])
    }
  }

  @Test(arguments: ["", ".", "..", ":memory:", "file::memory:", "things.db\0x", "no/such/file"])
  func `an integrity check fails for a file that does not exist`(path: String) throws {
    #expect(throws: (any Error).self) { try Database.problems(inFileAt: path) }
  }

  @Test(arguments: ["file:x.db", "file:x?mode=memory", "x.db", "./x%20y"])
  func `a file name that looks like a URI is used literally`(name: String) throws {
    let found = try DatabaseFiles.resolve(name)
    #expect(found.hasPrefix("/") && found.hasSuffix(String(name.split(separator: "/").last ?? "")))
  }

  @Test(arguments: ["things.db\0", "\0", "no/such/directory/x"])
  func `a backup to an invalid file name fails and leaves the database intact`(name: String) async throws {
    try await withThings { database in
      let folder = String(database.path.dropLast("things.db".count))
      #expect(throws: FileError.self) { try database.backup(to: "\(folder)\(name)") }
      #expect(unsafe access(database.path, F_OK) == 0)
    }
  }
}
