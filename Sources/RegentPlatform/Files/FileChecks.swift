import Glibc

/// A path split into its directory and its last component.
struct SplitPath {
  /// The directory of the path; "." if the path contains none.
  let directory: String
  let name: String

  init(_ path: String) throws(FileError) {
    try onFile(path) { () throws(SystemError) in try refuseNUL(in: path, operation: "use") }
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
    guard !name.isEmpty, name != ".", name != ".." else { throw FileError(.notAFile, path: path) }
    self.name = name
    self.directory =
      switch slash {
      case nil: "."
      case path.startIndex?: "/"
      case let slash?: String(path[..<slash])
      }
  }

  /// Opens the directory of the path, so that later calls use the same directory even if it is renamed meanwhile.
  func openDirectory() throws(FileError) -> FileDescriptor {
    let directory = directory
    return try onFile(directory) { () throws(SystemError) in
      try FileDescriptor.open(directory, O_RDONLY | O_DIRECTORY)
    }
  }
}

extension stat {
  var isRegular: Bool { st_mode & S_IFMT == S_IFREG }
  var isDirectory: Bool { st_mode & S_IFMT == S_IFDIR }
  var isSymbolicLink: Bool { st_mode & S_IFMT == S_IFLNK }

  func isSameFile(as other: stat) -> Bool { st_dev == other.st_dev && st_ino == other.st_ino }

  /// Refuses a file that other users may have written or may read.
  func requirePrivate(widest: mode_t, path: String) throws(FileError) {
    let mode = st_mode & 0o7777
    guard mode & ~widest == 0 else {
      throw FileError(.modeTooWide(found: mode, allowed: widest), path: path)
    }
    guard st_uid == geteuid() || st_uid == 0 else {
      throw FileError(.foreignOwner(st_uid), path: path)
    }
  }
}

extension FileDescriptor {
  func status(of path: String) throws(FileError) -> stat {
    let number = number
    var status = stat()
    _ = try onFile(path) { () throws(SystemError) in
      try systemCall("examine", on: path) { unsafe fstat(number, &status) }
    }
    return status
  }

  /// The status of the file with this name inside this directory, without following a symbolic link; nil when there is
  /// no such file.
  func statusInside(_ name: String, path: String) throws(FileError) -> stat? {
    var status = stat()
    do throws(SystemError) {
      try systemCall("examine", on: path) {
        unsafe fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW)
      }
      return status
    } catch {
      if error.code == ENOENT { return nil }
      throw FileError(error, path: path)
    }
  }
}

/// Takes an exclusive `flock` without waiting.
///
/// - Returns: false when another process holds it.
func flockNow(_ number: CInt, path: String) throws(FileError) -> Bool {
  do throws(SystemError) {
    try systemCall("lock", on: path) { flock(number, LOCK_EX | LOCK_NB) }
    return true
  } catch {
    if error.code == EWOULDBLOCK { return false }
    throw FileError(error, path: path)
  }
}
