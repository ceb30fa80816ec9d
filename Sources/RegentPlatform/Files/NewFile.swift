public import Glibc

/// A private file that is written in parts and gets its name when all parts are on disk.
///
/// It never overwrites a file.
///
/// Until it is finished, it is named `.NAME.partial`, and is removed when the value goes away unfinished. If the
/// process is killed, that file stays, and the next attempt empties and reuses it.
public struct NewFile: ~Copyable {
  private let file: FileDescriptor
  private let directory: FileDescriptor
  private let place: SplitPath
  private let draftName: String
  private let path: String
  private var isFinished = false

  /// Creates the file under its temporary name.
  ///
  /// - Parameters:
  ///   - path: its final name; the directory must exist, and no file of that name.
  ///   - mode: the exact mode, regardless of the umask.
  /// - Throws: `FileError`; `.system` with `EEXIST` when a file of that name exists.
  public init(_ path: String, mode: mode_t = 0o600) throws(FileError) {
    let place = try SplitPath(path)
    let directory = try place.openDirectory()
    guard try directory.statusInside(place.name, path: path) == nil else {
      throw FileError(
        .system(SystemError(operation: "create", subject: path, code: EEXIST)), path: path)
    }
    let draftName = ".\(place.name).partial"
    let file = try openOwn(draftName, in: directory, path: path)
    let status = try file.status(of: path)
    guard status.isRegular, status.st_nlink <= 1 else { throw FileError(.notAFile, path: path) }
    guard try flockNow(file.number, path: path) else {
      throw FileError(.held(by: nil), path: path)
    }
    let number = file.number
    try onFile(path) { () throws(SystemError) in
      try systemCall("empty", on: path) { ftruncate(number, 0) }
      try systemCall("set the mode of", on: path) { fchmod(number, mode) }
    }
    self.file = file
    self.directory = directory
    self.place = place
    self.draftName = draftName
    self.path = path
  }

  deinit {
    if !isFinished { _ = unsafe unlinkat(directory.number, draftName, 0) }
  }

  public func write(_ part: [UInt8]) throws(FileError) {
    do throws(SystemError) {
      try file.writeAll(part, to: path)
    } catch {
      throw FileError(error, path: path)
    }
  }

  /// Forces the whole content to disk and gives the file its name, unless a file of that name exists by now.
  public consuming func finish() throws(FileError) {
    let (number, folder, draft, name) = (file.number, directory.number, draftName, place.name)
    let path = path
    try onFile(path) { () throws(SystemError) in
      try systemCall("force to disk", on: path) { fsync(number) }
      // `linkat` fails if a file of that name exists. A rename would replace that file.
      try systemCall("name", on: path) { unsafe linkat(folder, draft, folder, name, 0) }
    }
    // If removing the temporary name fails, `deinit` tries it again.
    isFinished = unsafe unlinkat(folder, draft, 0) == 0
    try DurableFile.force(directory, path: place.directory)
  }
}
