import Glibc

/// An exclusive claim on something that two processes must not use at once, for example a database.
///
/// The claim is an advisory `flock` on a small file. The kernel drops it when this value goes away and when the process
/// dies in whatever way, so a crash never leaves a stale lock. The file itself stays: removing it would let two
/// processes hold two different files of the same name.
public struct FileLock: ~Copyable, Sendable {
  public let path: String
  private let descriptor: FileDescriptor

  /// Claims the lock file beside something: `regent.db` is guarded by `regent.db.lock`.
  ///
  /// - Parameters:
  ///   - guarded: the path of what is protected.
  ///   - patience: how long to wait for another holder; the calling thread sleeps meanwhile.
  /// - Throws: `FileError`, `.held` with the holder's process id when it is taken.
  public init(beside guarded: String, patience: Duration = .zero) throws(FileError) {
    try self.init(at: guarded + ".lock", patience: patience)
  }

  /// Claims a lock file by its own path; it is created with mode 0600 when missing.
  ///
  /// - Parameters:
  ///   - path: the lock file.
  ///   - patience: how long to wait for another holder; the calling thread sleeps meanwhile.
  /// - Throws: `FileError`, `.held` with the holder's process id when it is taken.
  public init(at path: String, patience: Duration = .zero) throws(FileError) {
    let place = try SplitPath(path)
    let directory = try place.openDirectory()
    let end = Clocks.bootNanoseconds() &+ patience.wholeNanoseconds
    var pause: UInt32 = 500
    while true {
      // O_NONBLOCK: a pipe planted under this name must not hang us.
      let file = try onFile(path) { () throws(SystemError) in
        try directory.openInside(place.name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, path: path)
      }
      let status = try file.status(of: path)
      guard status.isRegular else { throw FileError(.notAFile, path: path) }
      // Whoever may open the file may also hold the lock and so keep us out.
      try status.requirePrivate(widest: 0o600, path: path)
      if try flockNow(file.number, path: path) {
        // Somebody may have removed the file between our open and our lock: then what we hold guards nothing.
        if let there = try directory.statusInside(place.name, path: path),
          there.isSameFile(as: status)
        {
          do throws(SystemError) {
            try FileLock.record(getpid(), in: file, path: path)
          } catch {
            // The number only says in a sentence who holds the lock: a full disk must not keep a service from starting.
            guard error.isFull else { throw FileError(.system(error), path: path) }
          }
          self.path = path
          self.descriptor = file
          return
        }
        continue
      }
      guard Clocks.bootNanoseconds() < end else {
        throw FileError(.held(by: FileLock.holder(in: file)), path: path)
      }
      usleep(pause)
      pause = min(pause * 2, 20_000)
    }
  }

  deinit {
    // Said outright: a child that another thread is just starting shares the open file until its exec, and closing our
    // side alone would leave the claim standing for that moment.
    _ = flock(descriptor.number, LOCK_UN)
  }

  /// Gives the claim up now instead of when the value goes away.
  public consuming func release() {
    // The number is wiped so that nobody reads it between the next holder's lock and its own record.
    _ = ftruncate(descriptor.number, 0)
  }

  private static func record(
    _ pid: pid_t, in file: borrowing FileDescriptor, path: String
  ) throws(SystemError) {
    let number = file.number
    try systemCall("empty", on: path) { ftruncate(number, 0) }
    try file.writeAll(Array("\(pid)\n".utf8), to: path)
  }

  /// Who holds it, for the error sentence only; the file may be empty for a moment.
  private static func holder(in file: borrowing FileDescriptor) -> pid_t? {
    guard let bytes = try? file.read(atMost: 16) else { return nil }
    let digits = bytes.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    return pid_t(String(decoding: digits, as: UTF8.self))
  }
}
