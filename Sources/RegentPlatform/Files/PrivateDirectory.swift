public import Glibc

/// Creates and checks directories that only this program's user may enter.
public enum PrivateDirectory {
  /// Ensures that a private directory exists.
  ///
  /// Creates missing directories of the path with mode 0700.
  ///
  /// An existing directory is not changed. If its mode is wider, it is refused with a hint that names the command which
  /// narrows the mode. The mode may be intended, or the path mistyped.
  ///
  /// - Parameters:
  ///   - path: the directory.
  ///   - widest: the widest mode that is accepted for the directory itself; its parents are not checked.
  ///   - mode: the mode of the directory if it is created.
  /// - Returns: whether the directory was created.
  /// - Throws: `FileError`.
  @discardableResult
  public static func ensure(
    _ path: String, widest: mode_t = 0o700, mode: mode_t = 0o700
  ) throws(FileError) -> Bool {
    let path = trimmed(path)
    let isNew = try create(path)
    let directory = try open(path, widest: widest)
    if isNew, mode != 0o700 {
      let number = directory.number
      try onFile(path) { () throws(SystemError) in
        _ = try systemCall("set the mode of", on: path) { fchmod(number, mode) }
      }
    }
    return isNew
  }

  /// Checks a private directory without creating it.
  ///
  /// - Parameters:
  ///   - path: the directory.
  ///   - widest: the widest mode that is accepted for the directory itself; its parents are not checked.
  /// - Returns: false when the directory does not exist.
  /// - Throws: `FileError`.
  public static func check(_ path: String, widest: mode_t = 0o700) throws(FileError) -> Bool {
    let path = trimmed(path)
    do throws(FileError) {
      _ = try open(path, widest: widest)
      return true
    } catch {
      guard error.kind == .missing else { throw error }
      return false
    }
  }

  /// Refuses a directory, private or not, in which other users could replace this user's files.
  ///
  /// A symbolic link to a directory is followed.
  public static func requireOwn(_ path: String) throws(FileError) {
    let directory = try onFile(path) { () throws(SystemError) in
      try FileDescriptor.open(path, O_RDONLY | O_DIRECTORY)
    }
    let status = try directory.status(of: path)
    let mode = status.st_mode & 0o7777
    // In a directory with the sticky bit, such as /tmp, only the owner of a file can rename or remove it.
    try status.requirePrivate(widest: mode & S_ISVTX != 0 ? mode : mode & ~0o022, path: path)
  }

  /// The owner of a directory, private or not; nil when it does not exist.
  public static func owner(of path: String) throws(FileError) -> uid_t? {
    do throws(FileError) {
      let directory = try onFile(path) { () throws(SystemError) in
        try FileDescriptor.open(path, O_RDONLY | O_DIRECTORY)
      }
      return try directory.status(of: path).st_uid
    } catch {
      guard error.kind == .missing else { throw error }
      return nil
    }
  }

  /// Removes an empty directory.
  public static func remove(_ path: String) throws(FileError) {
    try onFile(path) { () throws(SystemError) in
      try refuseNUL(in: path, operation: "remove")
      _ = try systemCall("remove", on: path) { unsafe rmdir(path) }
    }
  }

  /// Opens a private directory.
  ///
  /// Refuses a symbolic link.
  private static func open(_ path: String, widest: mode_t) throws(FileError) -> FileDescriptor {
    let directory = try onFile(path) { () throws(SystemError) in
      try FileDescriptor.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    }
    try directory.status(of: path).requirePrivate(widest: widest, path: path)
    return directory
  }

  /// Creates a directory and its missing parents.
  ///
  /// Returns whether this call has created the directory itself.
  @discardableResult
  private static func create(
    _ path: String, parentIsThere: Bool = false
  ) throws(FileError) -> Bool {
    do throws(SystemError) {
      try refuseNUL(in: path, operation: "create")
      try systemCall("create", on: path) { unsafe mkdir(path, 0o700) }
    } catch {
      switch error.code {
      case EEXIST: return false
      case ENOENT where !parentIsThere:
        guard let parent = SplitPath.parent(of: path) else { throw FileError(error, path: path) }
        try create(parent)
        return try create(path, parentIsThere: true)
      // The parent exists, but no directory can be created in it, for example in /proc.
      case ENOENT: throw FileError(.system(error), path: path)
      default: throw FileError(error, path: path)
      }
    }
    // The new directory's name is forced to disk too. Otherwise a power cut could remove the directory with everything
    // inside.
    let place = try SplitPath(path)
    try DurableFile.force(try place.openDirectory(), path: place.directory)
    return true
  }
}

/// The path without slashes at its end.
private func trimmed(_ path: String) -> String {
  var path = path
  while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
  return path
}

extension SplitPath {
  /// The parent directory of the path; nil when the path is the root, or has only one component.
  static func parent(of path: String) -> String? {
    guard let place = try? SplitPath(path) else { return nil }
    let parent = trimmed(place.directory)
    return parent == "." || parent == "/" ? nil : parent
  }
}
