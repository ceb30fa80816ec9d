import CommandKit
import RegentCryptography
import Glibc
internal import RegentEncodings
import RegentPlatform

/// A temporary copy of a database.
///
/// Opening a database migrates it, completes interrupted changes and checkpoints its log. Commands that only read, and
/// moves to and from a server, therefore work on a copy.
struct DatabaseCopy {
  private let folder: String
  var path: String { "\(folder)/copy.db" }

  init(_ call: Invocation) { self.init(in: call.environment["TMPDIR"]) }

  /// Names a copy in a folder for temporary files.
  ///
  /// Creates nothing yet.
  init(in place: String?) { folder = "\(place ?? "/var/tmp")/regentd-copy-\(Hex.encode(Random.bytes(8)))" }

  /// Creates only the folder, for callers that write the file themselves.
  func makeRoom() throws(FileError) { try PrivateDirectory.ensure(folder) }

  /// Copies a file, and the write-ahead log beside it if the file is the database itself.
  ///
  /// - Throws: `FileError`; `.held` while a service uses the database.
  func make(of file: String, database: String) throws(FileError) {
    // The lock file must not be created here; if it does not exist, no process can hold it.
    guard try PrivateFile.check("\(database).lock") else { return try makeHeld(of: file, database: database) }
    let lock = try FileLock(beside: database)
    try makeHeld(of: file, database: database)
    lock.release()
  }

  /// Removes the copy.
  ///
  /// A failure is ignored, because the folder is for temporary files.
  func remove() {
    removeCopy(path)
    try? PrivateDirectory.remove(folder)
  }

  /// Copies the file for a caller that holds the lock.
  func makeHeld(of file: String, database: String) throws(FileError) {
    try makeRoom()
    try copy(file, to: path)
    // If an interrupted restore is not complete yet, the write-ahead log on disk belongs to the old database and not to
    // `file`.
    if file == database, try PrivateFile.check("\(file)-wal") {
      try copy("\(file)-wal", to: "\(path)-wal")
    }
  }

  private func copy(_ source: String, to target: String) throws(FileError) {
    do throws(SystemError) {
      let file = try FileDescriptor.open(source, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      let new = try FileDescriptor.open(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
      while true {
        let part = try file.read(atMost: 1 << 20, from: source)
        if part.isEmpty { return }
        try new.writeAll(part, to: target)
      }
    } catch {
      throw FileError(.system(error), path: error.subject)
    }
  }
}
