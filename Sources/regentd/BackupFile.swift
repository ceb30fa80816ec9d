import CommandKit
import RegentCryptography
import Glibc
internal import RegentEncodings
import RegentPlatform

/// A backup on disk: the database, and behind it one line with the SHA-256 of all of it.
///
/// SQLite's own check sees damage in what it uses, signatures see changes of rows; a flipped bit anywhere else shows in
/// the hash alone. SQLite ignores what lies behind its last page, so other programs still open the file.
struct BackupFile {
  private static let mark = Array("\nregent-backup-1 ".utf8)
  private static let lineLength = mark.count + 2 * SHA256.size + 1
  private static let step = 1 << 20

  let path: String

  /// Writes the line behind a database that was just copied.
  ///
  /// - Returns: the length and the hash of the whole file.
  func complete() throws -> (size: Int64, hash: String) {
    let file = try FileDescriptor.open(path, O_RDWR | O_APPEND | O_NOFOLLOW)
    let (size, hash) = try Self.hash(of: file, path, upTo: .max)
    let line = Self.mark + Hex.encode(hash).utf8 + [UInt8(ascii: "\n")]
    try file.writeAll(line, to: path)
    let number = file.number
    try systemCall("force to disk", on: path) { fsync(number) }
    var whole = SHA256()
    try Self.read(file, path, upTo: .max) { whole.update($0) }
    return (size + Int64(line.count), Hex.encode(whole.finish()))
  }

  /// Opens it for ``extract(from:to:)``: by whoever may read it, who may be another user than the one who writes.
  func open() throws(CommandError) -> FileDescriptor {
    do throws(SystemError) {
      return try FileDescriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
    } catch {
      guard error.code == EACCES else {
        throw CommandError(error.description, hint: "check the path: \(shellQuoted(path))")
      }
      throw CommandError(
        error.description,
        hint: "type the same as root, who may read it: what is restored stays the service's own")
    }
  }

  /// Copies the database out of a backup into a new file.
  ///
  /// - Throws: `CommandError` for what is no backup or was damaged; the new file is not there then.
  func extract(from file: borrowing FileDescriptor, to target: String) throws {
    let (end, stored) = try line(of: file)
    let copy = try NewFile(target)
    var hash = SHA256()
    try Self.read(file, path, upTo: end) { part in
      hash.update(part)
      try copy.write(part)
    }
    guard hash.finish() == stored else { throw damaged }
    try copy.finish()
  }

  private var damaged: CommandError {
    CommandError(
      "\(path) is damaged: its content is not what was written", hint: "take an older backup")
  }

  /// Where the database ends, and what its hash was.
  private func line(of file: borrowing FileDescriptor) throws -> (end: Int64, hash: [UInt8]) {
    let size = try Self.size(of: file, path)
    let end = size - Int64(Self.lineLength)
    if end > 0 {
      let line = try file.read(atMost: Self.lineLength, at: end, from: path)
      let digits = String(decoding: line.dropFirst(Self.mark.count).dropLast(), as: UTF8.self)
      if line.count == Self.lineLength, line.starts(with: Self.mark) {
        guard line.last == UInt8(ascii: "\n"), let hash = try? Hex.decode(digits) else {
          throw damaged
        }
        return (end, hash)
      }
    }
    throw CommandError(
      "\(path) is no whole backup of regentctl: its last line is missing",
      hint: "take a file that regentctl backup wrote, and all of it")
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
