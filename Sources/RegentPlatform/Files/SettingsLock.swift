internal import Glibc

/// A lock that keeps two programs from changing the same settings file at once.
///
/// The lock is a file `.NAME.lock` beside the settings, which is removed when this value goes away. If a program that
/// held the lock was killed, the next program takes over its file.
public struct SettingsLock: ~Copyable, Sendable {
  private let lock: FileLock

  /// Takes the lock without waiting.
  ///
  /// - Parameter settings: the path of the settings; its directory must exist.
  /// - Throws: `FileError`; `.held` when another program holds it.
  public init(_ settings: String) throws(FileError) {
    let place = try SplitPath(settings)
    lock = try FileLock(at: "\(place.directory)/.\(place.name).lock")
  }

  /// Releases the lock at this point.
  ///
  /// Without this call, Swift may release the lock right after the last use of the value, while the settings are still
  /// being written.
  public consuming func release() {}

  deinit {
    // The lock file is removed while it is locked. Another program that has opened it meanwhile sees that its name is
    // gone, and creates a new one.
    _ = unsafe unlink(lock.path)
  }
}
