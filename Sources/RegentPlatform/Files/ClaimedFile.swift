import Glibc

/// A file that this process has claimed under whatever name it is reached, and whether its path still leads to it.
///
/// A lock file beside a file guards its path: with the lock file removed, or through a hard link, a second process
/// would come in. This claim is on the file itself. The kernel drops it when the value goes away and when the process
/// dies.
public struct ClaimedFile: ~Copyable, Sendable {
  /// The path that led to the file when it was claimed.
  public let path: String
  private let descriptor: FileDescriptor
  private let claimed: stat

  /// Claims a regular file that exists.
  ///
  /// - Throws: `FileError`, `.held` when another process has claimed it.
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
    // Said outright, for the reason that `FileLock` gives.
    _ = flock(descriptor.number, LOCK_UN)
  }

  /// Whether the path still leads to this file; not when somebody removed it or put another in its place.
  ///
  /// When the path cannot be looked at, that is no sign that the file is gone.
  public var isInPlace: Bool {
    var there = stat()
    let code = attempt { unsafe lstat(path, &there) }.code
    guard code == 0 else { return code != ENOENT && code != ENOTDIR }
    return there.isSameFile(as: claimed)
  }
}
