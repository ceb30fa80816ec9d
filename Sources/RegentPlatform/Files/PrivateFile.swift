public import Glibc

/// Checks private files that other code opens, such as a database.
public enum PrivateFile {
  /// Checks that a file, if it exists, is private.
  ///
  /// - Parameters:
  ///   - path: the file; its directory must exist. A symbolic link there is refused.
  ///   - widest: the widest mode that is accepted.
  /// - Returns: false when the file does not exist.
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

  /// Checks a file that must exist and is only read.
  ///
  /// A symbolic link is followed.
  ///
  /// - Throws: `FileError` for anything but a regular file whose mode is not wider than `widest`.
  public static func checkTarget(of path: String, widest: mode_t) throws(FileError) {
    // O_NONBLOCK is set because opening a pipe would otherwise wait for a writer.
    let file = try onFile(path) { () throws(SystemError) in
      try FileDescriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
    }
    let status = try file.status(of: path)
    guard status.isRegular else { throw FileError(.notAFile, path: path) }
    try status.requirePrivate(widest: widest, path: path)
  }
}
