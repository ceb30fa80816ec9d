import Glibc

/// A lock on a file itself, whatever name it was opened under.
///
/// The lock also tells whether the path still leads to the file.
///
/// A lock file beside a file protects only the path: a second process could get in through a hard link or after the
/// lock file was removed. The kernel releases this lock when the value goes away and when the process dies.
public struct ClaimedFile: ~Copyable, Sendable {
  /// The path that led to the file when it was locked.
  public let path: String
  private let descriptor: FileDescriptor
  private let claimed: stat

  /// Locks an existing regular file.
  ///
  /// - Throws: `FileError`; `.held` when another process has locked it.
  public init(claiming path: String) throws(FileError) {
    let file = try onFile(path) { () throws(SystemError) in
      try FileDescriptor.open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK)
    }
    let status = try file.status(of: path)
    guard status.isRegular else { throw FileError(.notAFile, path: path) }
    guard try flockNow(file.number, path: path) else { throw FileError(.held(by: nil), path: path) }
    self.path = path
    claimed = status
    descriptor = file
  }

  deinit {
    // The lock is released explicitly, for the reason that `FileLock` gives.
    _ = flock(descriptor.number, LOCK_UN)
  }

  /// Whether the path still leads to this file.
  ///
  /// False when the file was removed or replaced.
  ///
  /// True when the path cannot be examined for another reason, because that does not show that the file was removed.
  public var isInPlace: Bool {
    var there = stat()
    let code = attempt { unsafe lstat(path, &there) }.code
    guard code == 0 else { return code != ENOENT && code != ENOTDIR }
    return there.isSameFile(as: claimed)
  }
}
