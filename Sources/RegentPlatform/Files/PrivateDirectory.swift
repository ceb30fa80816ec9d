public import Glibc

/// Directories that only this program's user may enter.
public enum PrivateDirectory {
  /// Makes sure that a private directory exists, creating what is missing of the path with mode 0700.
  ///
  /// An existing directory is not changed: a wider mode is refused with the command that narrows it, because it may be
  /// somebody's deliberate choice or the sign of a mistyped path.
  ///
  /// - Parameters:
  ///   - path: the directory.
  ///   - widest: the widest acceptable mode of the directory itself; its parents are not judged.
  ///   - mode: the mode that a new one gets in the end.
  /// - Returns: whether the directory itself is new.
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

  /// Looks at a private directory, and makes nothing.
  ///
  /// - Parameters:
  ///   - path: the directory.
  ///   - widest: the widest acceptable mode of the directory itself; its parents are not judged.
  /// - Returns: false when there is nothing yet.
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

  /// Refuses a directory, be it private or not, in which others may put something in the place of this user's files.
  ///
  /// - Parameter path: the directory; a symbolic link is followed.
  /// - Throws: `FileError`.
  public static func requireOwn(_ path: String) throws(FileError) {
    let directory = try onFile(path) { () throws(SystemError) in
      try FileDescriptor.open(path, O_RDONLY | O_DIRECTORY)
    }
    let status = try directory.status(of: path)
    let mode = status.st_mode & 0o7777
    // With that bit, as /tmp has it, whose a file is stays its own.
    try status.requirePrivate(widest: mode & S_ISVTX != 0 ? mode : mode & ~0o022, path: path)
  }

  /// Whose a directory is, be it private or not.
  ///
  /// - Parameter path: the directory.
  /// - Returns: nil when there is nothing.
  /// - Throws: `FileError`.
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
  ///
  /// - Parameter path: the directory.
  /// - Throws: `FileError`.
  public static func remove(_ path: String) throws(FileError) {
    try onFile(path) { () throws(SystemError) in
      try refuseNUL(in: path, operation: "remove")
      _ = try systemCall("remove", on: path) { unsafe rmdir(path) }
    }
  }

  /// A directory that is private, and no link to one.
  private static func open(_ path: String, widest: mode_t) throws(FileError) -> FileDescriptor {
    let directory = try onFile(path) { () throws(SystemError) in
      try FileDescriptor.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    }
    try directory.status(of: path).requirePrivate(widest: widest, path: path)
    return directory
  }

  /// Whether it made the directory itself.
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
      // The parent is there and yet nothing can be made in it: /proc, or a link that leads nowhere.
      case ENOENT: throw FileError(.system(error), path: path)
      default: throw FileError(error, path: path)
      }
    }
    // A new directory's own name must survive a power cut too, or everything inside is lost with it.
    let place = try SplitPath(path)
    try DurableFile.force(try place.openDirectory(), path: place.directory)
    return true
  }
}

/// Without slashes at the end.
private func trimmed(_ path: String) -> String {
  var path = path
  while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
  return path
}

extension SplitPath {
  /// The directory above, `nil` at the top or when the path has only one step.
  static func parent(of path: String) -> String? {
    guard let place = try? SplitPath(path) else { return nil }
    let parent = trimmed(place.directory)
    return parent == "." || parent == "/" ? nil : parent
  }
}
