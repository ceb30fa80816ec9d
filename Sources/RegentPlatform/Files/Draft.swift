internal import Glibc

/// The second file that a write fills before it takes the first one's name.
///
/// Its name comes from a short fixed list and a `flock` says whether its writer is alive. So a writer that was killed
/// leaves at most one file, which the next write takes over: no clutter, no directory scan, and two writers at once
/// never share one. What another user put there is none of ours: it goes away, and a new one is made.
struct Draft: ~Copyable {
  let file: FileDescriptor
  let name: String
  let path: String

  /// More writers than this at once to one file means that something else is wrong.
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

  /// Removes those whose writers are dead.
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
    // Its writer may have renamed it between our open and our lock: then it is the finished file, not a draft.
    guard let there = try directory.statusInside(name, path: path), there.isSameFile(as: status)
    else { return .gone }
    _ = try onFile(path) { () throws(SystemError) in
      try systemCall("empty", on: path) { ftruncate(number, 0) }
    }
    return .ours
  }
}

/// How often somebody else may put his own file in the place of the one that is about to be made.
private let mostTries = 100

/// Opens a file to write it, and makes it when it is missing: it is this user's own.
///
/// One of another user, who may have it open and who could read what is written to it, is removed. That fails in a
/// folder like `/tmp`, where others' files may not be removed.
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
