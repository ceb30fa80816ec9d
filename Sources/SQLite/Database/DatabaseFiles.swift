import Glibc
import RegentPlatform

/// Checks and creates the files of a database.
enum DatabaseFiles {
  /// Ensures that the directory of a database exists and is private.
  ///
  /// - Returns: the database's path with no symbolic link in its directories: SQLite refuses links anywhere, and a
  ///   state directory of systemd may be one.
  static func prepareDirectory(of path: String) throws(FileError) -> String {
    let (directory, name) = try split(path)
    let resolved = realPath(directory) ?? directory
    try PrivateDirectory.ensure(resolved)
    return join(realPath(resolved) ?? resolved, name)
  }

  /// The same path with no symbolic link in its directories, which must exist.
  ///
  /// SQLite must never get a path of another form: Debian's build treats "file:x?mode=memory" as a URI, and "" as a
  /// temporary database, in which a check finds no damage.
  static func resolve(_ path: String) throws(FileError) -> String {
    let (directory, name) = try split(path)
    do throws(SystemError) {
      return join(try resolvedPath(directory), name)
    } catch {
      throw FileError(.system(error), path: path)
    }
  }

  /// Whether this file is the database at `path` or one of the files that SQLite and the lock keep beside it.
  static func isPart(_ file: String, of path: String) -> Bool {
    ["", "-wal", "-shm", "-journal", ".lock"].contains { file == "\(path)\($0)" }
  }

  /// Refuses database files that other users may access, files of other owners, symbolic links, and everything that is
  /// no regular file.
  ///
  /// The files are examined without opening them: under POSIX, closing a second descriptor of a file drops the locks
  /// that SQLite holds through the first.
  static func check(_ path: String) throws(FileError) {
    for file in [path, "\(path)-wal", "\(path)-shm"] { _ = try checkOne(file) }
  }

  /// Creates an empty database file if there is none, with mode 0600 regardless of the umask.
  static func createIfMissing(_ path: String) throws(FileError) {
    guard try !checkOne(path) else { return }
    do throws(SystemError) {
      let file = try FileDescriptor.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
      let number = file.number
      try systemCall("set the mode of", on: path) { fchmod(number, 0o600) }
      try systemCall("force to disk", on: path) { fsync(number) }
      try forceDirectory(of: path)
    } catch {
      throw FileError(.system(error), path: path)
    }
  }

  /// Forces the directory of a database to disk (fsync), so that a new or removed file name survives a power cut.
  static func forceDirectory(of path: String) throws(SystemError) {
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
    let directory = slash == path.startIndex ? "/" : String(path[..<slash])
    let handle = try FileDescriptor.open(directory, O_RDONLY | O_DIRECTORY)
    let number = handle.number
    try systemCall("force to disk", on: directory) { fsync(number) }
  }

  /// Checks the owner and mode of one file.
  ///
  /// - Returns: whether the file exists.
  private static func checkOne(_ path: String) throws(FileError) -> Bool {
    var status = stat()
    do throws(SystemError) {
      try systemCall("examine", on: path) { unsafe lstat(path, &status) }
    } catch {
      if error.code == ENOENT { return false }
      throw FileError(.system(error), path: path)
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFLNK: throw FileError(.symbolicLink, path: path)
    default: throw FileError(.notAFile, path: path)
    }
    let mode = status.st_mode & 0o7777
    guard mode & ~0o600 == 0 else {
      throw FileError(.modeTooWide(found: mode, allowed: 0o600), path: path)
    }
    guard status.st_uid == geteuid() else {
      throw FileError(.foreignOwner(status.st_uid), path: path)
    }
    return true
  }

  private static func split(
    _ path: String
  ) throws(FileError) -> (directory: String, name: String) {
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
    guard !name.isEmpty, name != ".", name != "..", !path.utf8.contains(0) else {
      throw FileError(.notAFile, path: path)
    }
    return (slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? ".", name)
  }

  private static func join(_ directory: String, _ name: String) -> String {
    directory == "/" ? "/\(name)" : "\(directory)/\(name)"
  }
}
