internal import Glibc

/// The temporary file that a write fills before renaming it over the target.
///
/// Its name comes from a short fixed list, and a `flock` shows whether its writer still lives. So a killed writer
/// leaves at most one file, which the next write reuses. No directory scan is needed, and two concurrent writers never
/// share a file. A file of another user with that name is removed and replaced.
struct Draft: ~Copyable {
  let file: FileDescriptor
  let name: String
  let path: String

  /// The maximum number of concurrent writers to one file.
  ///
  /// More of them mean that a program does not work correctly.
  private static let slots = 64

  init(
    of place: SplitPath, in directory: borrowing FileDescriptor, path: String
  ) throws(FileError) {
    var slot = 0
    while true {
      let name = Self.name(place, slot)
      let path = "\(place.directory)/\(name)"
      let file = try openOwn(name, in: directory, path: path)
      switch try Draft.claim(file, name: name, in: directory, path: path) {
      case .ours:
        self.file = file
        self.name = name
        self.path = path
        return
      case .gone: continue
      case .busy:
        slot += 1
        guard slot < Draft.slots else { throw FileError(.held(by: nil), path: path) }
      }
    }
  }

  private static func name(_ place: SplitPath, _ slot: Int) -> String { ".\(place.name).new\(slot)" }

  /// Removes the temporary files of writers that have died.
  static func clear(_ place: SplitPath, in directory: borrowing FileDescriptor) throws(FileError) {
    for slot in 0..<slots {
      let name = name(place, slot)
      let path = "\(place.directory)/\(name)"
      guard let there = try directory.statusInside(name, path: path), there.isRegular else { continue }
      let file = try openOwn(name, in: directory, path: path)
      guard case .ours = try claim(file, name: name, in: directory, path: path) else { continue }
      try remove(name, in: directory, path: path)
    }
  }

  private enum Claim { case ours, busy, gone }

  private static func claim(
    _ file: borrowing FileDescriptor, name: String, in directory: borrowing FileDescriptor,
    path: String
  ) throws(FileError) -> Claim {
    let number = file.number
    let status = try file.status(of: path)
    guard status.isRegular, status.st_nlink <= 1 else { throw FileError(.notAFile, path: path) }
    guard try flockNow(number, path: path) else { return .busy }
    // The writer may have renamed the temporary file after it was opened here and before it was locked. Then it is the
    // finished file.
    guard let there = try directory.statusInside(name, path: path), there.isSameFile(as: status)
    else { return .gone }
    _ = try onFile(path) { () throws(SystemError) in
      try systemCall("empty", on: path) { ftruncate(number, 0) }
    }
    return .ours
  }
}

/// How often `openOwn` tries again when another user keeps creating a file under the same name.
private let mostTries = 100

/// Opens a file for writing, and creates it if it is missing.
///
/// The file belongs to this user.
///
/// A file of another user is removed, because that user may have it open and could read what is written. The removal
/// fails in a directory like `/tmp`, where a user cannot remove files of others.
func openOwn(_ name: String, in directory: borrowing FileDescriptor, path: String) throws(FileError) -> FileDescriptor {
  for _ in 0..<mostTries {
    do throws(SystemError) {
      return try directory.openInside(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, path: path)
    } catch {
      guard error.code == EEXIST else { throw FileError(error, path: path) }
    }
    guard let there = try directory.statusInside(name, path: path) else { continue }
    if there.st_uid != geteuid(), !there.isDirectory {
      try remove(name, in: directory, path: path)
      continue
    }
    let file: FileDescriptor
    do throws(SystemError) {
      file = try directory.openInside(name, O_RDWR | O_NOFOLLOW | O_NONBLOCK, path: path)
    } catch {
      if error.code == ENOENT { continue }
      throw FileError(error, path: path)
    }
    if try file.status(of: path).st_uid == geteuid() { return file }
  }
  throw FileError(.held(by: nil), path: path)
}

private func remove(_ name: String, in directory: borrowing FileDescriptor, path: String) throws(FileError) {
  let folder = directory.number
  do throws(SystemError) {
    try systemCall("remove", on: path) { unsafe unlinkat(folder, name, 0) }
  } catch {
    guard error.code == ENOENT else { throw FileError(error, path: path) }
  }
}
