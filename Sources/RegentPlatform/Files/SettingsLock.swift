internal import Glibc

/// Keeps two programs from changing the same settings at once.
///
/// A file `.NAME.lock` beside them, which goes away with this value; one that a killed program left is taken over.
public struct SettingsLock: ~Copyable, Sendable {
  private let lock: FileLock

  /// Takes the lock, without waiting.
  ///
  /// - Parameter settings: the path of the settings; its directory must exist.
  /// - Throws: `FileError`, `.held` when another program has it.
  public init(_ settings: String) throws(FileError) {
    let place = try SplitPath(settings)
    lock = try FileLock(at: "\(place.directory)/.\(place.name).lock")
  }

  /// Gives it up: without this it may go as soon as nobody names it any more.
  public consuming func release() {}

  deinit {
    // Still locked: whoever opened the file meanwhile sees that it has no name any more, and makes another.
    _ = unsafe unlink(lock.path)
  }
}
