import Glibc

/// An exclusive lock on a thing that two processes must not use at once, for example a database.
///
/// It is an advisory `flock` on a small file. The kernel releases it when this value goes away and when the process
/// dies, so a crash never leaves a stale lock. The lock file itself is not removed. Otherwise two processes could lock
/// two different files of the same name.
public struct FileLock: ~Copyable, Sendable {
  public let path: String
  private let descriptor: FileDescriptor

  /// Locks a file beside the protected one: `regent.db.lock` protects `regent.db`.
  ///
  /// - Parameters:
  ///   - guarded: the path of the protected file.
  ///   - patience: how long to wait for another holder. The calling thread sleeps meanwhile.
  /// - Throws: `FileError`; `.held` with the holder's process id when another process holds the lock.
  public init(beside guarded: String, patience: Duration = .zero) throws(FileError) {
    try self.init(at: guarded + ".lock", patience: patience)
  }

  /// Locks a lock file.
  ///
  /// A missing file is created with mode 0600.
  ///
  /// - Parameters:
  ///   - path: the lock file.
  ///   - patience: how long to wait for another holder. The calling thread sleeps meanwhile.
  /// - Throws: `FileError`; `.held` with the holder's process id when another process holds the lock.
  public init(at path: String, patience: Duration = .zero) throws(FileError) {
    let place = try SplitPath(path)
    let directory = try place.openDirectory()
    let end = Clocks.bootNanoseconds() &+ patience.wholeNanoseconds
    var pause: UInt32 = 500
    while true {
      // O_NONBLOCK is set because opening a pipe, which an attacker may have planted under this name, would block.
      let file = try onFile(path) { () throws(SystemError) in
        try directory.openInside(place.name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, path: path)
      }
      let status = try file.status(of: path)
      guard status.isRegular else { throw FileError(.notAFile, path: path) }
      // The mode must be private: a user who may open the file could hold the lock and keep this program out.
      try status.requirePrivate(widest: 0o600, path: path)
      if try flockNow(file.number, path: path) {
        // Another process may have removed the file after it was opened here and before it was locked. A lock on a
        // removed file would protect nothing.
        if let there = try directory.statusInside(place.name, path: path),
          there.isSameFile(as: status)
        {
          do throws(SystemError) {
            try FileLock.record(getpid(), in: file, path: path)
          } catch {
            // A failure to write the process id is ignored if the disk is full. The id is only for error messages, and
            // a full disk must not keep the service from starting.
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
    // The lock is released explicitly. A child process that another thread is just starting shares the open file until
    // its exec. Closing only this descriptor would keep the lock held until then.
    _ = flock(descriptor.number, LOCK_UN)
  }

  /// Releases the lock now, and not when the value goes away.
  public consuming func release() {
    // Erase the process id, so that no process reads it after the next holder has locked and before it has written its
    // own.
    _ = ftruncate(descriptor.number, 0)
  }

  private static func record(
    _ pid: pid_t, in file: borrowing FileDescriptor, path: String
  ) throws(SystemError) {
    let number = file.number
    try systemCall("empty", on: path) { ftruncate(number, 0) }
    try file.writeAll(Array("\(pid)\n".utf8), to: path)
  }

  /// The process id of the holder, for error messages only.
  ///
  /// The lock file may be empty for a moment.
  private static func holder(in file: borrowing FileDescriptor) -> pid_t? {
    guard let bytes = try? file.read(atMost: 16) else { return nil }
    let digits = bytes.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    return pid_t(String(decoding: digits, as: UTF8.self))
  }
}
