public import Glibc

/// Small private files that survive a power cut: the old content or the new one, never a torn mixture.
///
/// A write goes to a second file in the same directory, is forced to disk, renamed over the old one, and then the
/// directory is forced to disk too: without the last step the rename itself can be lost.
public enum DurableFile {
  /// Replaces a file's content, durably: when this returns, a power cut no longer brings the old content back.
  ///
  /// The old content stays in place when anything fails, a full disk included. Only a failure of the very last step
  /// (forcing the directory) leaves the new content visible with an unknown fate after a power cut; it throws as well.
  ///
  /// - Parameters:
  ///   - bytes: the whole new content.
  ///   - path: the file; its directory must exist. A symbolic link there is refused.
  ///   - mode: the exact mode of the file, whatever the umask is.
  /// - Throws: `FileError`.
  public static func write(
    _ bytes: [UInt8], to path: String, mode: mode_t = 0o600
  ) throws(FileError) {
    try write(bytes, to: path, mode: mode, afterStep: { _ in })
  }

  /// Replaces the content of a file that is there, durably; it keeps its owner, its group and its mode.
  ///
  /// It has all of them before it has its name.
  ///
  /// - Parameters:
  ///   - bytes: the whole new content.
  ///   - path: the file.
  ///   - old: what it says; when that is something else by now, nothing is replaced. Nil: whatever it says.
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

  /// Removes what writers that were killed left beside a file.
  public static func clearDrafts(of path: String) throws(FileError) {
    let place = try SplitPath(path)
    try Draft.clear(place, in: try place.openDirectory())
  }

  /// Replaces the content of a private file where it lies, durably, with no more than it had: for a disk without room.
  ///
  /// A power cut in between leaves neither the old content nor the new one: for what must go more than it must come.
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

  /// Replaces a file's content at once, with a fate after a power cut that is open until ``force(_:)``.
  ///
  /// For a file that means nothing before another one is written that needs it: forcing two at once is cheaper, and
  /// nobody has to wait for it.
  public static func writeUnforced(
    _ bytes: [UInt8], to path: String, mode: mode_t = 0o600
  ) throws(FileError) {
    try write(bytes, to: path, mode: mode, isForced: false, afterStep: { _ in })
  }

  /// Forces the content of files and their names to disk; nearly free when they are there.
  ///
  /// A directory that holds several of them is forced once.
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

  /// The steps of a write, in order, so that tests can die between any two of them.
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
          // Before the mode and the content: nobody who may not read the old one reads the new one.
          try systemCall("give back", on: draft.path) { fchown(draft.file.number, owner.user, owner.group) }
        }
        try systemCall("set the mode of", on: draft.path) { fchmod(draft.file.number, mode) }
        try draft.file.writeAll(bytes, to: path)
        afterStep(.written)
        // A failed fsync is final: the kernel marks the pages clean, so repeating it would prove nothing.
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

  /// Reads a whole private file.
  ///
  /// - Parameters:
  ///   - path: the file; a symbolic link, pipe or device is refused.
  ///   - limit: the most bytes it may have.
  ///   - widest: the widest acceptable mode; `nil` for files that are not secret. A systemd credential that was granted
  ///     through an access list shows as 0440.
  /// - Returns: the content.
  /// - Throws: `FileError`, `.missing` when there is nothing.
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
      // What is left, and a byte more, so that a file that grows meanwhile is noticed. Not simply a large buffer: its
      // fresh pages cost more than the small files that are read here.
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

  /// Removes a file, durably; nothing there is fine.
  ///
  /// - Parameter path: the file.
  /// - Throws: `FileError`.
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

  /// Gives a file a second name in the same directory; both names stay, and nothing is overwritten.
  ///
  /// - Throws: `FileError`; `.system` with `EEXIST` when the name is taken.
  public static func keep(_ path: String, as second: String) throws(FileError) {
    try inOneDirectory(path, second) { (directory, from, to) throws(SystemError) in
      try systemCall("name", on: second) { unsafe linkat(directory, from, directory, to, 0) }
    }
  }

  /// Gives a file the name of another in the same directory, whose content is gone then; there is no moment without
  /// one.
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
