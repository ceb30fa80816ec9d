import CommandKit
import RegentHTTPCodec
import RegentPlatform

/// The marker file beside a database file that is moved to or from a server.
///
/// It keeps services from opening the database file.
///
/// A move changes the file and the server, and no single step changes both. So the command writes the marker file
/// before the step that decides, which is a COMMIT on the server. If the command is killed around that step, the marker
/// file stays, and the next move asks the server for the outcome. Until then no service opens the database file, so two
/// databases are never in use at the same time.
struct MovedDatabase {
  let database: String
  private var moving: String { "\(database).moving" }
  private var moved: String { "\(database).moved" }
  private static let repeatable = "the command finds out what was copied, so it can be repeated"

  init(of database: String) { self.database = database }

  /// The content of the marker file: the move's name, and the URL of the server as the user typed it.
  struct Note: Equatable {
    let name: String
    let place: String
  }

  enum State: Equatable {
    case here
    /// A move to the server was begun. The current rows are in the file or already on the server.
    case leaving(Note)
    /// A move from the server was begun. The current rows are still on the server or already in the file.
    case arriving(Note)
    /// A move to the server is complete. The current rows are on the server.
    case left(Note)
  }

  func state() throws -> State {
    if let (word, note) = try read(moving) { return word == Self.away ? .leaving(note) : .arriving(note) }
    if let (_, note) = try read(moved) { return .left(note) }
    return .here
  }

  /// Throws if the file may not be the current database because of a move.
  func refuseService() throws {
    switch try state() {
    case .here: return
    case .leaving(let note):
      throw CommandError(
        "a move of \(database) to \(note.place) was interrupted: the current rows are in the file or on that server",
        hint: "finish it: regentd move --to \(shellQuoted(note.place)) --database \(shellQuoted(database)); "
          + Self.repeatable)
    case .arriving(let note):
      throw CommandError(
        "a move to \(database) from \(note.place) was interrupted: the current rows are in the file or on that server",
        hint: "finish it: regentd move --from \(shellQuoted(note.place)) --database \(shellQuoted(database)); "
          + Self.repeatable)
    case .left(let note):
      throw CommandError(
        "the database \(database) was moved to \(note.place)",
        hint: "start the service with --database \(shellQuoted(note.place)); "
          + "to move it back, use regentd move --from; "
          + "to start with an empty database here, run rm -f \(shellQuoted(moved)) \(shellQuoted("\(database).made"))"
      )
    }
  }

  /// The database files in these folders that have a marker file beside them.
  static func marked(in folders: [String]) throws -> [MovedDatabase] {
    var found: Set<String> = []
    for folder in folders where try PrivateDirectory.owner(of: folder) != nil {
      for name in try FolderTree.names(in: folder) {
        for suffix in [".moving", ".moved"] where name.hasSuffix(suffix) {
          found.insert("\(folder)/\(name.dropLast(suffix.count))")
        }
      }
    }
    return found.sorted().map(MovedDatabase.init)
  }

  /// Throws if this file has or may have the current rows, or is being moved.
  ///
  /// Called before a service uses an empty server. Otherwise that service would start without the existing rows.
  func refuseBeginning(on server: String) throws {
    let toBegin = "to start with an empty database on the server and give up these rows, run rm"
    switch try state() {
    case .here: return
    case .leaving(let note):
      throw CommandError(
        "\(server) has no rows: a move of \(database) to \(note.place) was interrupted, and the file may have them",
        hint: "finish it: regentd move --to \(shellQuoted(note.place)) --database \(shellQuoted(database)); "
          + "\(toBegin) \(shellQuoted(moving))")
    case .arriving(let note):
      throw CommandError(
        "\(server) has no rows: a move to \(database) from \(note.place) was interrupted, and the file may have them",
        hint: "finish it: regentd move --from \(shellQuoted(note.place)) --database \(shellQuoted(database)); "
          + "if that server has lost its rows, run rm \(shellQuoted(moving)) to use the file's rows")
    case .left(let note):
      throw CommandError(
        "\(server) has no rows, but the database \(database) was moved to \(note.place)",
        hint: "find the server that has the rows (a promoted standby, another host name); "
          + "to restore a backup to the empty server, run regentd restore FILE; \(toBegin) \(shellQuoted(moved))")
    }
  }

  /// Throws if an interrupted move may have filled the server.
  ///
  /// Then another command must not fill that server from another source.
  func refuseFilling() throws {
    if case .left = try state() { return }
    try refuseService()
  }

  /// Writes the marker file of a move to a server.
  ///
  /// Call this before the COMMIT on the server that decides the move.
  func beginLeaving(_ note: Note) throws { try write(Self.away, note) }

  /// Writes the marker file of a move from a server.
  ///
  /// Call this before the step that decides the move.
  func beginArriving(_ note: Note) throws { try write(Self.here, note) }

  /// Removes the marker file, because nothing was moved.
  func forget() throws { try DurableFile.remove(moving) }

  /// Removes the marker file after a move from a server, which makes the file the current database.
  func arrive() throws {
    try DurableFile.remove(moved)
    try DurableFile.remove(moving)
  }

  /// Renames the database file after a move to a server, because the file is no longer the current database.
  ///
  /// - Returns: the new name; `nil` if an earlier attempt already renamed it.
  func leave() throws -> String? {
    var kept: String?
    if try PrivateFile.check(database) {
      let stamp = CivilDate.text(epochMilliseconds: Clocks.wallMilliseconds(), fraction: true)
      let name = "\(database).before-\(stamp.filter { $0 != ":" })"
      // The write-ahead log is renamed first. A log without its database is harmless, but a database without its log is
      // incomplete.
      if try PrivateFile.check("\(database)-wal") { try DurableFile.keep("\(database)-wal", as: "\(name)-wal") }
      try DurableFile.keep(database, as: name)
      for suffix in ["", "-wal", "-shm"] { try DurableFile.remove(database + suffix) }
      kept = name
    }
    try DurableFile.rename(moving, over: moved)
    return kept
  }

  // MARK: - The file

  private static let head = "regent-move 1"
  private static let away = "away"
  private static let here = "here"

  private func write(_ word: String, _ note: Note) throws {
    try DurableFile.write(Array("\(Self.head)\n\(word)\n\(note.name)\n\(note.place)\n".utf8), to: moving)
  }

  private func read(_ path: String) throws -> (word: String, note: Note)? {
    let content: [UInt8]
    do throws(FileError) {
      content = try DurableFile.read(path, limit: 8_192)
    } catch {
      guard error.kind == .missing else { throw error }
      return nil
    }
    let lines = TextLines.texts(of: content).filter { !$0.isEmpty }
    guard lines.count == 4, lines[0] == Self.head, [Self.away, Self.here].contains(lines[1]) else {
      throw CommandError(
        "the file \(path), which says where the database \(database) was moved, cannot be read",
        hint: "a newer version of regentd may have written the file: use that version")
    }
    return (lines[1], Note(name: lines[2], place: lines[3]))
  }
}
