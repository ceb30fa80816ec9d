import Glibc

/// Reads a small folder into memory, for files that are served later.
public enum FolderTree {
  public struct File: Equatable, Sendable {
    /// The path of the file inside the folder, with `/` between its components.
    public let path: String
    public let bytes: [UInt8]
  }

  /// Reads all files below a folder, sorted by path.
  ///
  /// Names that begin with a dot are left out.
  ///
  /// - Parameters:
  ///   - folder: the folder, or a symbolic link to it.
  ///   - fileLimit: the largest size of a file in bytes.
  ///   - countLimit: the most files and folders, so that reading a mistyped path ends quickly.
  /// - Returns: the files.
  /// - Throws: `FileError`, also for a symbolic link inside, which could lead out of the folder, and for a device or
  ///   pipe.
  public static func read(
    _ folder: String, fileLimit: Int = 1 << 20, countLimit: Int = 4096
  ) throws(FileError) -> [File] {
    let directory = try onFile(folder) { () throws(SystemError) in
      try FileDescriptor.open(folder, O_RDONLY | O_DIRECTORY)
    }
    var reading = Reading(fileLimit: fileLimit, left: countLimit, countLimit: countLimit)
    try reading.enter(directory, path: folder, inside: "", depth: 0)
    return reading.files.sorted { $0.path < $1.path }
  }

  /// The names in a folder, unsorted, including "." and ".." and hidden files.
  public static func names(in folder: String) throws(FileError) -> [String] {
    let directory = try onFile(folder) { () throws(SystemError) in
      try FileDescriptor.open(folder, O_RDONLY | O_DIRECTORY)
    }
    return try Reading(fileLimit: 0, left: 0, countLimit: 0).names(in: directory, path: folder)
  }
}

private struct Reading {
  let fileLimit: Int
  var left: Int
  let countLimit: Int
  var files: [FolderTree.File] = []

  /// The maximum depth of folders.
  ///
  /// A folder of served files is not deep, but a loop of bind mounts would be.
  static let deepest = 16

  mutating func enter(
    _ directory: borrowing FileDescriptor, path: String, inside: String, depth: Int
  ) throws(FileError) {
    guard depth < Reading.deepest else {
      throw FileError(.tooLarge(limit: Reading.deepest), path: path)
    }
    for name in try names(in: directory, path: path) where !name.hasPrefix(".") {
      left -= 1
      let below = "\(path)/\(name)"
      guard left >= 0 else { throw FileError(.tooLarge(limit: countLimit), path: path) }
      guard let status = try directory.statusInside(name, path: below) else { continue }
      let place = inside.isEmpty ? name : "\(inside)/\(name)"
      if status.isSymbolicLink { throw FileError(.symbolicLink, path: below) }
      if status.isDirectory {
        let child = try open(name, in: directory, O_DIRECTORY, path: below)
        try enter(child, path: below, inside: place, depth: depth + 1)
      } else if status.isRegular {
        let file = try open(name, in: directory, O_NONBLOCK, path: below)
        files.append(FolderTree.File(path: place, bytes: try content(file, path: below)))
      } else {
        throw FileError(.notAFile, path: below)
      }
    }
  }

  private func open(
    _ name: String, in directory: borrowing FileDescriptor, _ flags: CInt, path: String
  ) throws(FileError) -> FileDescriptor {
    // O_NOFOLLOW is needed here too: a symbolic link may have replaced the file since it was examined.
    do throws(SystemError) {
      return try directory.openInside(name, O_RDONLY | O_NOFOLLOW | flags, path: path)
    } catch {
      throw FileError(error, path: path)
    }
  }

  private func content(
    _ file: borrowing FileDescriptor, path: String
  ) throws(FileError) -> [UInt8] {
    guard try file.status(of: path).isRegular else { throw FileError(.notAFile, path: path) }
    var bytes: [UInt8] = []
    while true {
      let chunk: [UInt8]
      do throws(SystemError) {
        chunk = try file.read(atMost: 65_536, from: path)
      } catch {
        throw FileError(error, path: path)
      }
      if chunk.isEmpty { return bytes }
      bytes += chunk
      guard bytes.count <= fileLimit else {
        throw FileError(.tooLarge(limit: fileLimit), path: path)
      }
    }
  }

  fileprivate func names(
    in directory: borrowing FileDescriptor, path: String
  ) throws(FileError) -> [String] {
    let number = directory.number
    // closedir closes the descriptor from which it reads, so it gets a duplicate.
    let copy: CInt
    do throws(SystemError) {
      copy = try systemCall("list", on: path) { fcntl(number, F_DUPFD_CLOEXEC, 0) }
    } catch {
      throw FileError(error, path: path)
    }
    let (stream, failure) = unsafe attemptToGet { unsafe fdopendir(copy) }
    guard let stream = unsafe stream else {
      close(copy)
      throw FileError(SystemError(operation: "list", subject: path, code: failure), path: path)
    }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while true {
      let (entry, failure) = unsafe attemptToGet { unsafe readdir(stream) }
      guard let entry = unsafe entry else {
        guard failure == 0 else {
          throw FileError(SystemError(operation: "list", subject: path, code: failure), path: path)
        }
        return names
      }
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { start in
          unsafe String(cString: start)
        }
      }
      // The names "." and ".." are also added here. `enter` leaves them out together with the hidden files.
      names.append(name)
    }
  }
}
