import Glibc
import RegentPlatform

extension Database {
  /// Writes a copy of the database as it is at one moment, while reads and writes go on.
  ///
  /// Blocks the caller.
  ///
  /// The copy has mode 0600, is forced to disk, and its integrity is checked before it gets its name. A file of that
  /// name is never overwritten. The copy is compact and contains no remains of deleted rows.
  ///
  /// The copy is made by `VACUUM INTO` on a separate connection, which reads the database as it is at one moment.
  /// SQLite's backup interface would start again with every commit of the writer, or slow the writer down by running on
  /// its thread. The price is that the log cannot be emptied while the copy is made.
  ///
  /// - Parameter target: the copy; its directory must exist.
  /// - Throws: `FileError`, `SQLiteError` or `BackupFailure`.
  public func backup(to target: String) throws {
    let target = try DatabaseFiles.resolve(target)
    let draft = "\(target).partial"
    // The draft of the copy is deleted without a check, and SQLite would treat a file with the name of a log or journal
    // as its own. So neither name may belong to the database.
    guard !DatabaseFiles.isPart(target, of: path), !DatabaseFiles.isPart(draft, of: path) else {
      throw BackupFailure.databaseItself(target)
    }
    try DatabaseFiles.removeDraft(draft)
    guard try !DatabaseFiles.exists(target) else { throw BackupFailure.exists(target) }
    try DatabaseFiles.createIfMissing(draft)
    do {
      let connection = try Connection.open(path, role: .backup, fileLayer: fileLayer)
      try connection.run("VACUUM INTO \(draft)")
      try DatabaseFiles.force(draft)
      let problems = try Database.problems(inFileAt: draft)
      guard problems.isEmpty else { throw BackupFailure.damaged(target, problems) }
      try DatabaseFiles.giveName(target, to: draft)
    } catch {
      try DatabaseFiles.removeDraft(draft)
      throw error
    }
  }

  /// Checks the open database for damage, on a reader thread, and its schema for changes by other programs.
  ///
  /// - Returns: descriptions of the problems, from SQLite or from this package; empty when there are none.
  /// - Throws: `DatabaseFailure` or `SQLiteError`.
  public func integrityProblems() async throws -> [String] {
    try await read { [schema] context in
      try (schema?.differences(in: context.connection) ?? []) + context.integrityProblems()
    }
  }

  /// Checks a database file for damage.
  ///
  /// No program may have the file open.
  ///
  /// - Parameter path: the file; it is not changed.
  /// - Returns: SQLite's descriptions of the problems; empty when there are none.
  /// - Throws: `FileError` or `SQLiteError`.
  public static func problems(inFileAt path: String) throws -> [String] {
    let connection = try Connection.open(DatabaseFiles.resolve(path), role: .reader)
    return try ReadContext(connection: connection).integrityProblems()
  }
}

extension ReadContext {
  borrowing func integrityProblems() throws -> [String] {
    let damage = try all("PRAGMA integrity_check(20)") { try $0.text(0) }.filter { $0 != "ok" }
    let loose = try all("PRAGMA foreign_key_check") { row in
      "a row of \(try row.text(0)) points to nothing in \(try row.text(2))"
    }
    return damage + loose.prefix(20)
  }
}

/// Why a backup was not made.
public enum BackupFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// A file with the name of the copy exists already.
  case exists(String)
  /// The name of the copy, or of the draft beside it, belongs to a file of the database that was to be copied.
  case databaseItself(String)
  /// The copy failed its integrity check and was removed.
  case damaged(String, [String])

  /// The error as one sentence, without secrets.
  public var description: String {
    switch self {
    case .exists(let path): "\(path) exists already and is not overwritten"
    case .databaseItself(let path): "\(path) is kept for the database's own files"
    case .damaged(let path, let problems):
      "the copy \(path) is damaged and was removed: \(problems.first ?? "")"
    }
  }

  public var hint: String {
    switch self {
    case .exists, .databaseItself: "give another name"
    case .damaged: "the database itself is probably damaged: check it, and keep the older backups"
    }
  }
}

extension DatabaseFiles {
  fileprivate static func exists(_ path: String) throws(FileError) -> Bool {
    var status = stat()
    let code = attempt { unsafe lstat(path, &status) }.code
    guard code == 0 || code == ENOENT else {
      throw FileError(.system(SystemError(operation: "examine", subject: path, code: code)), path: path)
    }
    return code == 0
  }

  fileprivate static func removeDraft(_ path: String) throws(FileError) {
    try DurableFile.remove(path)
  }

  fileprivate static func force(_ path: String) throws(FileError) {
    do throws(SystemError) {
      let file = try FileDescriptor.open(path, O_RDWR | O_NOFOLLOW)
      let number = file.number
      try systemCall("force to disk", on: path) { fsync(number) }
    } catch {
      throw FileError(.system(error), path: path)
    }
  }

  /// Gives the draft of a backup its final name.
  ///
  /// It uses a hard link, because `rename` would overwrite a file that has got this name meanwhile. Only on file
  /// systems without links is `rename` used.
  fileprivate static func giveName(_ target: String, to draft: String) throws(FileError) {
    do throws(SystemError) {
      do throws(SystemError) {
        try systemCall("name", on: target) { unsafe link(draft, target) }
        try systemCall("remove", on: draft) { unsafe unlink(draft) }
      } catch {
        // File systems of memory sticks (FAT) do not support links.
        guard [EPERM, EOPNOTSUPP].contains(error.code) else { throw error }
        try systemCall("name", on: target) { unsafe rename(draft, target) }
      }
      try forceDirectory(of: target)
    } catch {
      throw FileError(.system(error), path: target)
    }
  }
}
