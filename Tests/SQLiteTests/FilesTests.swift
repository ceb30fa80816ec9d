internal import Glibc
internal import RegentPlatform
internal import SQLite
internal import TestSupport
internal import Testing

@Suite("Files of an SQLite database")
struct FilesTests {
  @Test func `the index file of the write-ahead log is allocated on the disk before its first use`() async throws {
    try await withTemporaryFolder { folder in
      let database = try Database(things(at: "\(folder)/things.db"))
      defer { database.close() }
      var status = stat()
      #expect(unsafe stat("\(folder)/things.db-shm", &status) == 0)
      #expect(status.st_size >= 1 << 20)
      // `st_blocks` counts 512 bytes each. There are no holes, because touching a hole on a full disk ends the
      // process with SIGBUS.
      #expect(Int(status.st_blocks) * 512 >= 1 << 20)
      try await database.write { try insert("row", in: $0) }
      #expect(try await database.names() == ["row"])
    }
  }

  @Test(arguments: ["000", "027", "077"])
  func `files are private whatever the umask is`(umask: String) throws {
    try withTemporaryFolder { folder in
      // The umask applies to the whole process, so a child process creates the files.
      let program = try RunningProgram(
        "sh",
        [
          "-c", "umask \(umask); exec \"$0\" child --first 1 --database \"$1\"",
          try builtProgram("Soak"), "\(folder)/new/deep/soak.db",
        ], standardOutput: "\(folder)/acknowledged")
      try eventually("the first answer") {
        try readFile("\(folder)/acknowledged").count > 400 ? true : nil
      }
      program.signal(SIGKILL)
      #expect(mode("\(folder)/new/deep") == 0o700)
      for name in ["soak.db", "soak.db-wal", "soak.db-shm", "soak.db.lock"] {
        #expect(mode("\(folder)/new/deep/\(name)") == 0o600, "\(name)")
      }
    }
  }

  @Test func `a new directory and all database files are private`() throws {
    try withTemporaryFolder { folder in
      let database = try Database(things(at: "\(folder)/new/deep/things.db"))
      defer { database.close() }
      try database.writeBlocking { try insert("a", in: $0) }
      #expect(mode("\(folder)/new/deep") == 0o700)
      for name in ["things.db", "things.db-wal", "things.db-shm", "things.db.lock"] {
        #expect(mode("\(folder)/new/deep/\(name)") == 0o600, "\(name)")
      }
    }
  }

  @Test(arguments: ["things.db", "things.db-wal", "things.db-shm"])
  func `a file that other users can read is refused with the chmod command that fixes it`(name: String) throws {
    try withTemporaryFolder { folder in
      try closedDatabase(in: folder)
      try writeFile("\(folder)/\(name)", (try? readFile("\(folder)/\(name)")) ?? [], mode: 0o644)
      let error = #expect(throws: FileError.self) {
        try Database(things(at: "\(folder)/things.db"))
      }
      let real = try #require(realPath(folder))
      #expect(error?.hint == "run chmod 600 \(real)/\(name)")
      #expect(mode("\(folder)/\(name)") == 0o644)
    }
  }

  @Test func `a directory that other users can enter is refused with the chmod command that fixes it`() throws {
    try withTemporaryFolder { folder in
      unsafe chmod(folder, 0o755)
      let error = #expect(throws: FileError.self) {
        try Database(things(at: "\(folder)/things.db"))
      }
      let real = try #require(realPath(folder))
      #expect(error?.hint == "run chmod 700 \(real)")
    }
  }

  @Test func `a symbolic link to the file is refused, and one to its directory is followed`() throws {
    try withTemporaryFolder { folder in
      try closedDatabase(in: "\(folder)/real")
      unsafe symlink("\(folder)/real/things.db", "\(folder)/link.db")
      let error = #expect(throws: FileError.self) { try Database(things(at: "\(folder)/link.db")) }
      #expect(error?.kind == .symbolicLink)
      // systemd's state directories are symbolic links for services with DynamicUser.
      unsafe symlink("\(folder)/real", "\(folder)/state")
      let database = try Database(things(at: "\(folder)/state/things.db"))
      let real = try #require(realPath(folder))
      #expect(database.path == "\(real)/real/things.db")
      database.close()
    }
  }

  @Test(arguments: ["pipe", "directory"])
  func `a pipe or a directory in place of the file is refused`(kind: String) throws {
    try withTemporaryFolder { folder in
      let path = "\(folder)/things.db"
      if kind == "pipe" { unsafe mkfifo(path, 0o600) } else { unsafe mkdir(path, 0o700) }
      #expect(throws: FileError.self) { try Database(things(at: path)) }
    }
  }

  @Test func `a second service is refused and told which process holds the database`() throws {
    try withTemporaryFolder { folder in
      let first = try Database(things(at: "\(folder)/things.db"))
      let error = #expect(throws: FileError.self) {
        try Database(things(at: "\(folder)/things.db"))
      }
      #expect("\(try #require(error))".contains("held by process \(getpid())"))
      first.close()
      try Database(things(at: "\(folder)/things.db")).close()
    }
  }

  @Test func `a second service is refused under another file name and without the lock file`() throws {
    try withTemporaryFolder { folder in
      let database = try Database(things(at: "\(folder)/a/things.db"))
      defer { database.close() }
      #expect(unsafe link("\(folder)/a/things.db", "\(folder)/a/other.db") == 0)
      #expect(unsafe unlink("\(folder)/a/things.db.lock") == 0)
      for name in ["other.db", "things.db"] {
        #expect(throws: FileError(.held(by: nil), path: "\(folder)/a/\(name)")) {
          _ = try Database(things(at: "\(folder)/a/\(name)"))
        }
      }
      try database.writeBlocking { try insert("still", in: $0) }
    }
  }

  @Test(arguments: ["removed", "moved", "replaced"])
  func `no write is acknowledged once the file was removed, moved or replaced`(how: String) throws {
    try withTemporaryFolder { folder in
      let path = "\(folder)/a/things.db"
      let database = try Database(things(at: path))
      defer { database.close() }
      try database.writeBlocking { try insert("kept", in: $0) }
      switch how {
      case "removed": #expect(unsafe unlink(path) == 0)
      case "moved": #expect(unsafe rename(path, "\(path).away") == 0)
      default:
        try Database(things(at: "\(folder)/b/things.db")).close()
        #expect(unsafe rename("\(folder)/b/things.db", path) == 0)
      }
      #expect {
        try database.writeBlocking { try insert("lost", in: $0) }
      } throws: { error in
        guard case .outcomeUnknown(let cause) = error as? DatabaseFailure else { return false }
        return cause.code == .moved && cause.hint?.contains("put the file back") == true
      }
      // The writer has stopped permanently.
      #expect(throws: DatabaseFailure.self) {
        try database.writeBlocking { try insert("later", in: $0) }
      }
    }
  }

  @Test func `a database that was released without closing can be opened again`() async throws {
    try await withTemporaryFolder { folder in
      let options = things(at: "\(folder)/things.db")
      try await Database(options).write { try insert("a", in: $0) }
      // The threads end a little later; the lock tells when.
      let again = try await reopen(options)
      #expect(try await again.names() == ["a"])
      again.close()
    }
  }

  @Test func `a clean close leaves one file and no log`() throws {
    try withTemporaryFolder { folder in
      try closedDatabase(in: folder)
      #expect(mode("\(folder)/things.db-wal") == nil)
      #expect(mode("\(folder)/things.db-shm") == nil)
    }
  }

  @Test func `a damaged file is reported and not overwritten`() throws {
    try withTemporaryFolder { folder in
      let noise = [UInt8](repeating: 0x5A, count: 8_192)
      try writeFile("\(folder)/things.db", noise)
      let error = #expect(throws: SQLiteError.self) {
        try Database(things(at: "\(folder)/things.db"))
      }
      #expect(error?.code == .notADatabase)
      #expect(try readFile("\(folder)/things.db") == noise)
    }
  }

  private func closedDatabase(in folder: String) throws {
    let database = try Database(things(at: "\(folder)/things.db"))
    try database.writeBlocking { try insert("a", in: $0) }
    database.close()
  }

  private func mode(_ path: String) -> mode_t? {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
  }
}

/// Opens the database as soon as the threads of the last holder have ended.
func reopen(_ options: DatabaseOptions) async throws -> Database {
  try await eventually("the last holder to release the lock") {
    do {
      return try Database(options)
    } catch let error as FileError {
      guard case .held = error.kind else { throw error }
      return nil
    }
  }
}
