public import Glibc

/// Files that only this program's user may use and that something else reads, such as a database.
public enum PrivateFile {
  /// Looks whether a private file is there and is not open to others.
  ///
  /// - Parameters:
  ///   - path: the file; its directory must exist. A symbolic link there is refused.
  ///   - widest: the widest acceptable mode.
  /// - Returns: false when there is nothing yet.
  /// - Throws: `FileError` for anything but a private regular file.
  @discardableResult
  public static func check(_ path: String, widest: mode_t = 0o600) throws(FileError) -> Bool {
    let place = try SplitPath(path)
    let directory = try place.openDirectory()
    guard let status = try directory.statusInside(place.name, path: path) else { return false }
    if status.isSymbolicLink { throw FileError(.symbolicLink, path: path) }
    guard status.isRegular else { throw FileError(.notAFile, path: path) }
    try status.requirePrivate(widest: widest, path: path)
    return true
  }

  /// Looks at a file that must be there and that is only read; a symbolic link is followed.
  ///
  /// - Throws: `FileError` for anything but a regular file that is narrow enough.
  public static func checkTarget(of path: String, widest: mode_t) throws(FileError) {
    // Without O_NONBLOCK opening a pipe would wait for somebody to write.
    let file = try onFile(path) { () throws(SystemError) in
      try FileDescriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
    }
    let status = try file.status(of: path)
    guard status.isRegular else { throw FileError(.notAFile, path: path) }
    try status.requirePrivate(widest: widest, path: path)
  }
}
