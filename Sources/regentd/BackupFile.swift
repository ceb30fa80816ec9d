import CommandKit
import RegentCryptography
import Glibc
internal import RegentEncodings
import PairingStoreSQLite
import RegentPlatform

/// A backup file: the database, followed by one line with the SHA-256 of the database and the service's seal over that
/// hash.
///
/// SQLite's own check finds damage in the pages that it uses, and row signatures find changed rows. The hash finds a
/// flipped bit anywhere else, and the seal finds rows that were removed or replaced by older ones. SQLite ignores data
/// after its last page, so other programs can open the file.
struct BackupFile {
  /// The content of the line that follows the database in a backup file.
  struct Ending {
    /// The offset at which the database ends.
    let end: Int64
    let hash: [UInt8]
    /// The service's seal over the hash; nil in backups of version 0.1.0.
    let seal: [UInt8]?
  }

  private static let mark = Array("\nregent-backup-2 ".utf8)
  private static let oldMark = Array("\nregent-backup-1 ".utf8)
  private static let digits = 2 * SHA256.size
  private static let lineLength = mark.count + digits + 1 + digits + 1
  private static let oldLineLength = oldMark.count + digits + 1
  private static let step = 1 << 20

  let path: String

  /// Appends the line with hash and seal to a database that was just copied.
  ///
  /// - Parameter seal: makes the seal of a hash.
  /// - Returns: the length and the hash of the whole file.
  /// - Throws: `SystemError`, and the errors of `seal`.
  func complete(seal: ([UInt8]) throws -> [UInt8]) throws -> (size: Int64, hash: String) {
    let file = try FileDescriptor.open(path, O_RDWR | O_APPEND | O_NOFOLLOW)
    let (size, hash) = try Self.hash(of: file, path, upTo: .max)
    let line = Self.mark + "\(Hex.encode(hash)) \(Hex.encode(try seal(hash)))\n".utf8
    try file.writeAll(line, to: path)
    let number = file.number
    try systemCall("force to disk", on: path) { fsync(number) }
    var whole = SHA256()
    try Self.read(file, path, upTo: .max) { whole.update($0) }
    return (size + Int64(line.count), Hex.encode(whole.finish()))
  }

  /// Opens the backup for ``extract(from:to:)``, while this process still runs as the user who may read it.
  func open() throws(CommandError) -> FileDescriptor {
    do throws(SystemError) {
      return try FileDescriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
    } catch {
      guard error.code == EACCES else {
        throw CommandError(error.description, hint: "check the path: \(shellQuoted(path))")
      }
      throw CommandError(
        error.description,
        hint: "run the command as root; the restored files still belong to the service's user")
    }
  }

  /// Copies the database out of a backup into a new file.
  ///
  /// - Returns: the line after the database. The seal can only be checked with the opened database.
  /// - Throws: `CommandError` for a damaged file or one that is not a backup; the new file is then removed.
  func extract(from file: borrowing FileDescriptor, to target: String) throws -> Ending {
    let ending = try ending(of: file)
    let copy = try NewFile(target)
    var hash = SHA256()
    try Self.read(file, path, upTo: ending.end) { part in
      hash.update(part)
      try copy.write(part)
    }
    guard hash.finish() == ending.hash else { throw damaged }
    try copy.finish()
    return ending
  }

  private var damaged: CommandError {
    CommandError(
      "\(path) is damaged: its content has changed since it was written", hint: "use an older backup")
  }

  private func ending(of file: borrowing FileDescriptor) throws -> Ending {
    let size = try Self.size(of: file, path)
    if let texts = try line(of: file, Self.mark, Self.lineLength, size) {
      guard texts.count == 2, let hash = Self.decoded(texts[0]), let seal = Self.decoded(texts[1]) else {
        throw damaged
      }
      return Ending(end: size - Int64(Self.lineLength), hash: hash, seal: seal)
    }
    if let texts = try line(of: file, Self.oldMark, Self.oldLineLength, size) {
      guard texts.count == 1, let hash = Self.decoded(texts[0]) else { throw damaged }
      // An attacker must not be able to remove the seal by writing the last line in the format of version 0.1.0, which
      // has none.
      guard try schemaVersion(of: file) <= SQLiteStore.newestUnsealedSchema else {
        throw CommandError(
          "\(path) was changed: the signature at its end (the seal) was removed",
          hint: "use an older backup, and check who can write to this file: ls -l \(shellQuoted(path))")
      }
      return Ending(end: size - Int64(Self.oldLineLength), hash: hash, seal: nil)
    }
    throw CommandError(
      "\(path) is not a complete backup: its last line is missing",
      hint: "the file was cut off; use a complete one that regentctl backup wrote")
  }

  /// The space-separated words of the backup's last line; nil if the line does not begin with the mark of a seal.
  private func line(
    of file: borrowing FileDescriptor, _ mark: [UInt8], _ length: Int, _ size: Int64
  ) throws -> [Substring]? {
    guard size > length else { return nil }
    let line = try file.read(atMost: length, at: size - Int64(length), from: path)
    guard line.count == length, line.starts(with: mark) else { return nil }
    guard line.last == UInt8(ascii: "\n") else { throw damaged }
    return String(decoding: line.dropFirst(mark.count).dropLast(), as: UTF8.self)
      .split(separator: " ", omittingEmptySubsequences: false)
  }

  private static func decoded(_ text: Substring) -> [UInt8]? {
    guard text.utf8.count == digits else { return nil }
    return try? Hex.decode(String(text))
  }

  /// The schema version of the database in the backup, which SQLite stores at offset 60 of the header (user version).
  func schemaVersion(of file: borrowing FileDescriptor) throws -> UInt32 {
    try file.read(atMost: 4, at: 60, from: path).reduce(0) { $0 << 8 | UInt32($1) }
  }

  private static func size(of file: borrowing FileDescriptor, _ path: String) throws -> Int64 {
    let number = file.number
    return Int64(try systemCall("measure", on: path) { lseek(number, 0, SEEK_END) })
  }

  private static func hash(
    of file: borrowing FileDescriptor, _ path: String, upTo end: Int64
  ) throws -> (size: Int64, hash: [UInt8]) {
    var hash = SHA256()
    var size: Int64 = 0
    try read(file, path, upTo: end) { part in
      hash.update(part)
      size += Int64(part.count)
    }
    return (size, hash.finish())
  }

  private static func read(
    _ file: borrowing FileDescriptor, _ path: String, upTo end: Int64,
    _ take: ([UInt8]) throws -> Void
  ) throws {
    var place: Int64 = 0
    while place < end {
      let part = try file.read(
        atMost: Int(min(Int64(step), end - place)), at: place, from: path)
      if part.isEmpty { return }
      try take(part)
      place += Int64(part.count)
    }
  }
}
