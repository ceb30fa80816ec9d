public import Glibc

/// Reads and writes small private files that survive a power cut: with the old content or the new one, never a mixture.
///
/// A write fills a second file in the same directory, forces it to disk, renames it over the old one, and forces the
/// directory to disk. Without the last step the rename itself could be lost.
public enum DurableFile {
  /// Replaces a file's content durably: after it returns, a power cut cannot bring the old content back.
  ///
  /// If a step fails, also because the disk is full, the old content stays. Only if the last step fails (forcing the
  /// directory) is the new content visible although a power cut may undo it; this throws too.
  ///
  /// - Parameters:
  ///   - bytes: the whole new content.
  ///   - path: the file; its directory must exist. A symbolic link there is refused.
  ///   - mode: the exact mode of the file, regardless of the umask.
  /// - Throws: `FileError`.
  public static func write(
    _ bytes: [UInt8], to path: String, mode: mode_t = 0o600
  ) throws(FileError) {
    try write(bytes, to: path, mode: mode, afterStep: { _ in })
  }

  /// Replaces the content of an existing file durably, and keeps its owner, group and mode.
  ///
  /// The new file has its owner, group and mode before it gets the name.
  ///
  /// - Parameters:
  ///   - bytes: the whole new content.
  ///   - path: the file.
  ///   - old: the expected content; if the file contains something else, it is not replaced. Nil means any content.
  /// - Throws: `FileError`, `.changed` when another program wrote to it.
  public static func replace(
    _ bytes: [UInt8], of path: String, whichSays old: [UInt8]? = nil
  ) throws(FileError) {
    try replace(bytes, of: path, whichSays: old, afterStep: { _ in })
  }

  static func replace(
    _ bytes: [UInt8], of path: String, whichSays content: [UInt8]? = nil, afterStep: (Step) -> Void
  ) throws(FileError) {
    let place = try SplitPath(path)
    let directory = try place.openDirectory()
    guard let old = try directory.statusInside(place.name, path: path) else {
      throw FileError(.missing, path: path)
    }
    try write(
      bytes, to: path, mode: old.st_mode & 0o777, owner: (old.st_uid, old.st_gid), whichSays: content,
      afterStep: afterStep)
  }

  /// Removes the temporary files that killed writers have left beside a file.
  public static func clearDrafts(of path: String) throws(FileError) {
    let place = try SplitPath(path)
    try Draft.clear(place, in: try place.openDirectory())
  }

  /// Overwrites a private file in place and forces it to disk.
  ///
  /// The new content must not be longer than the old one, so this works on a full disk.
  ///
  /// A power cut during the write can destroy both the old and the new content. Use it only when removing the old
  /// content matters more than keeping the new one.
  public static func overwrite(_ bytes: [UInt8], of path: String) throws(FileError) {
    let place = try SplitPath(path)
    let directory = try place.openDirectory()
    let file = try onFile(path) { () throws(SystemError) in
      try directory.openInside(place.name, O_RDWR | O_NOFOLLOW | O_NONBLOCK, path: path)
    }
    let status = try file.status(of: path)
    guard status.isRegular else { throw FileError(.notAFile, path: path) }
    try status.requirePrivate(widest: 0o600, path: path)
    guard bytes.count <= status.st_size else {
      throw FileError(SystemError(operation: "replace", subject: path, code: ENOSPC), path: path)
    }
    let number = file.number
    try onFile(path) { () throws(SystemError) in
      try file.writeAll(bytes, to: path)
      try systemCall("cut", on: path) { ftruncate(number, off_t(bytes.count)) }
      try systemCall("force to disk", on: path) { fsync(number) }
    }
  }

  /// Replaces a file's content.
  ///
  /// Until ``force(_:)``, a power cut may undo the replacement.
  ///
  /// For a file that is useless until another file is written: forcing both at once is cheaper.
  public static func writeUnforced(
    _ bytes: [UInt8], to path: String, mode: mode_t = 0o600
  ) throws(FileError) {
    try write(bytes, to: path, mode: mode, isForced: false, afterStep: { _ in })
  }

  /// Forces the content and the names of files to disk.
  ///
  /// This costs little when they are on disk already.
  ///
  /// A directory that contains several of the files is forced once.
  public static func force(_ paths: String...) throws(FileError) {
    var places: [SplitPath] = []
    for path in paths {
      let place = try SplitPath(path)
      let directory = try place.openDirectory()
      let file = try onFile(path) { () throws(SystemError) in
        try directory.openInside(place.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, path: path)
      }
      let number = file.number
      try onFile(path) { () throws(SystemError) in
        _ = try systemCall("force to disk", on: path) { fsync(number) }
      }
      if !places.contains(where: { $0.directory == place.directory }) { places.append(place) }
    }
    for place in places { try force(try place.openDirectory(), path: place.directory) }
  }

  /// The steps of a write in order, so that tests can stop the process after any of them.
  enum Step: Int, CaseIterable { case created, written, synced, renamed, directorySynced }

  static func write(
    _ bytes: [UInt8], to path: String, mode: mode_t, owner: (user: uid_t, group: gid_t)? = nil,
    whichSays content: [UInt8]? = nil, isForced: Bool = true, afterStep: (Step) -> Void
  ) throws(FileError) {
    let place = try SplitPath(path)
    let directory = try place.openDirectory()
    let old = try directory.statusInside(place.name, path: path)
    if let old {
      if old.isSymbolicLink { throw FileError(.symbolicLink, path: path) }
      guard old.isRegular else { throw FileError(.notAFile, path: path) }
    }
    let draft = try Draft(of: place, in: directory, path: path)
    afterStep(.created)
    do throws(FileError) {
      try onFile(path) { () throws(SystemError) in
        if let owner {
          // The owner is set before the mode and the content, so that only users who may read the old file can read the
          // new one.
          try systemCall("give back", on: draft.path) { fchown(draft.file.number, owner.user, owner.group) }
        }
        try systemCall("set the mode of", on: draft.path) { fchmod(draft.file.number, mode) }
        try draft.file.writeAll(bytes, to: path)
        afterStep(.written)
        // A failed fsync is final: the kernel marks the pages as clean, so a second fsync would succeed without writing
        // them.
        if isForced { try systemCall("force to disk", on: path) { fsync(draft.file.number) } }
      }
      afterStep(.synced)
      if let content, (try? read(path, limit: content.count, widest: nil)) != content {
        throw FileError(.changed, path: path)
      }
      try onFile(path) { () throws(SystemError) in
        try systemCall("replace", on: path) {
          unsafe renameat(directory.number, draft.name, directory.number, place.name)
        }
        afterStep(.renamed)
      }
    } catch {
      _ = unsafe unlinkat(directory.number, draft.name, 0)
      throw error
    }
    if isForced { try force(directory, path: place.directory) }
    afterStep(.directorySynced)
  }

  /// Reads the whole content of a private file.
  ///
  /// - Parameters:
  ///   - path: the file; a symbolic link, pipe or device is refused.
  ///   - limit: the largest size in bytes.
  ///   - widest: the widest mode that is accepted; nil for files that are not secret. A systemd credential that was
  ///     granted through an access list has the mode 0440.
  /// - Returns: the content.
  /// - Throws: `FileError`; `.missing` when the file does not exist.
  public static func read(
    _ path: String, limit: Int, widest: mode_t? = 0o600
  ) throws(FileError) -> [UInt8] {
    let place = try SplitPath(path)
    let directory = try place.openDirectory()
    let file = try onFile(path) { () throws(SystemError) in
      try directory.openInside(place.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, path: path)
    }
    let status = try file.status(of: path)
    guard status.isRegular else { throw FileError(.notAFile, path: path) }
    if let widest { try status.requirePrivate(widest: widest, path: path) }
    guard status.st_size <= limit else { throw FileError(.tooLarge(limit: limit), path: path) }
    var content: [UInt8] = []
    while true {
      // Read the rest and one byte more, to notice a file that grows meanwhile. A large buffer would be slower, because
      // the kernel's work for its fresh pages takes longer than reading these small files.
      let left = max(Int(status.st_size) - content.count + 1, 512)
      let room = min(limit - content.count + 1, left, 65_536)
      let piece = try onFile(path) { () throws(SystemError) in
        try file.read(atMost: room, from: path)
      }
      if piece.isEmpty { return content }
      content += piece
      guard content.count <= limit else { throw FileError(.tooLarge(limit: limit), path: path) }
    }
  }

  /// Removes a file durably.
  ///
  /// Does nothing when it does not exist.
  public static func remove(_ path: String) throws(FileError) {
    let place = try SplitPath(path)
    let directory = try place.openDirectory()
    do throws(SystemError) {
      try systemCall("remove", on: path) { unsafe unlinkat(directory.number, place.name, 0) }
    } catch {
      if error.code == ENOENT { return }
      throw FileError(error, path: path)
    }
    try force(directory, path: place.directory)
  }

  /// Gives a file a second name in the same directory.
  ///
  /// Both names stay, and no file is overwritten.
  ///
  /// - Throws: `FileError`; `.system` with `EEXIST` when the name is taken.
  public static func keep(_ path: String, as second: String) throws(FileError) {
    try inOneDirectory(path, second) { (directory, from, to) throws(SystemError) in
      try systemCall("name", on: second) { unsafe linkat(directory, from, directory, to, 0) }
    }
  }

  /// Renames a file over another one in the same directory, durably.
  ///
  /// A file named `other` exists at every moment: the old one, then the new one.
  public static func rename(_ path: String, over other: String) throws(FileError) {
    try inOneDirectory(path, other) { (directory, from, to) throws(SystemError) in
      try systemCall("replace", on: other) { unsafe renameat(directory, from, directory, to) }
    }
  }

  private static func inOneDirectory(
    _ path: String, _ other: String,
    _ work: (CInt, _ from: String, _ to: String) throws(SystemError) -> Void
  ) throws(FileError) {
    let (place, target) = (try SplitPath(path), try SplitPath(other))
    guard place.directory == target.directory else {
      throw FileError(
        .system(SystemError(operation: "move", subject: path, code: EXDEV)), path: other)
    }
    let directory = try place.openDirectory()
    let number = directory.number
    try onFile(path) { () throws(SystemError) in try work(number, place.name, target.name) }
    try force(directory, path: place.directory)
  }

  static func force(_ directory: borrowing FileDescriptor, path: String) throws(FileError) {
    let number = directory.number
    try onFile(path) { () throws(SystemError) in
      _ = try systemCall("force to disk", on: path) { fsync(number) }
    }
  }
}
