import CommandKit
import RegentCryptography
import Glibc
internal import RegentEncodings
import RegentPlatform

/// A copy of the database of a stopped service, or one on its way to or from a server: opening a database brings it to
/// this program's schema, finishes what was cut short and tidies its log, and whoever only looks must do none of that.
struct DatabaseCopy {
  private let folder: String
  var path: String { "\(folder)/copy.db" }

  init(_ call: Invocation) { self.init(in: call.environment["TMPDIR"]) }

  /// In a folder for what may go.
  init(in place: String?) { folder = "\(place ?? "/var/tmp")/regentd-copy-\(Hex.encode(Random.bytes(8)))" }

  /// Makes the place alone, for who puts something else there.
  func makeRoom() throws(FileError) { try PrivateDirectory.ensure(folder) }

  /// Copies a file, and the log beside it when the file is the database itself.
  ///
  /// - Throws: `FileError`, `.held` while a service has the database.
  func make(of file: String, database: String) throws(FileError) {
    // Only a lock that is there can be held, and one that is not there must not be made.
    guard try PrivateFile.check("\(database).lock") else { return try makeHeld(of: file, database: database) }
    let lock = try FileLock(beside: database)
    try makeHeld(of: file, database: database)
    lock.release()
  }

  /// Nothing depends on it: what cannot be removed is in a folder for what may go.
  func remove() {
    removeCopy(path)
    try? PrivateDirectory.remove(folder)
  }

  /// The same for who holds the lock.
  func makeHeld(of file: String, database: String) throws(FileError) {
    try makeRoom()
    try copy(file, to: path)
    // The log of a database that a decided restore replaces belongs to neither.
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
