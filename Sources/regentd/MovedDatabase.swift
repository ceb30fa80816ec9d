import CommandKit
import RegentHTTPCodec
import RegentPlatform

/// What lies beside the file of a database that moves to a server or comes from one, and keeps services from it.
///
/// A move ends in two places, and no single step changes both. So a file is marked before the step that decides, which
/// is a COMMIT of the server: whoever is killed around it leaves a mark, and the next move asks the server what became
/// of it. Until then no service opens the file; so there are never two databases that both go on.
struct MovedDatabase {
  private let database: String
  private var moving: String { "\(database).moving" }
  private var moved: String { "\(database).moved" }

  init(of database: String) { self.database = database }

  /// One move: its name, and the other place as it was given.
  struct Note: Equatable {
    let name: String
    let place: String
  }

  enum State: Equatable {
    case here
    /// Perhaps it is on the server already.
    case leaving(Note)
    /// Perhaps it is on the server still.
    case arriving(Note)
    /// It is on the server.
    case left(Note)
  }

  func state() throws -> State {
    if let (word, note) = try read(moving) { return word == Self.away ? .leaving(note) : .arriving(note) }
    if let (_, note) = try read(moved) { return .left(note) }
    return .here
  }

  /// Refuses to use the file while it is not certain that it is the one database.
  func refuseService() throws {
    switch try state() {
    case .here: return
    case .leaving(let note):
      throw CommandError(
        "a move of \(database) to \(note.place) was interrupted, and may have finished copying",
        hint: "finish it: regentd move --to \(shellQuoted(note.place)) --database \(shellQuoted(database))")
    case .arriving(let note):
      throw CommandError(
        "a move to \(database) from \(note.place) was interrupted",
        hint: "finish it: regentd move --from \(shellQuoted(note.place)) --database \(shellQuoted(database))")
    case .left(let note):
      throw CommandError(
        "the database \(database) was moved to \(note.place)",
        hint: "start the service with --database \(shellQuoted(note.place)); "
          + "to move it back, use regentd move --from; to start with an empty database here, remove \(shellQuoted(moved))"
      )
    }
  }

  /// The databases beside which something lies, in these folders.
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

  /// Refuses to begin anew on a server that has nothing, as long as the one database is, or may be, in this file or on
  /// its way.
  func refuseBeginning(on server: String) throws {
    let toBegin = "to start with an empty database on the server, remove"
    switch try state() {
    case .here: return
    case .leaving(let note):
      throw CommandError(
        "a move of \(database) to \(note.place) was interrupted, and \(server) has no rows",
        hint: "finish it: regentd move --to \(shellQuoted(note.place)) --database \(shellQuoted(database)); "
          + "\(toBegin) \(shellQuoted(moving))")
    case .arriving(let note):
      throw CommandError(
        "a move to \(database) from \(note.place) was interrupted, and \(server) has no rows",
        hint: "finish it: regentd move --from \(shellQuoted(note.place)) --database \(shellQuoted(database)); "
          + "if that server has lost its rows, remove \(shellQuoted(moving)) to use the file's rows")
    case .left(let note):
      throw CommandError(
        "the database \(database) was moved to \(note.place), and \(server) has no rows",
        hint: "check which server has them (a promoted standby, another host name); "
          + "to restore a backup there, use regentd restore; \(toBegin) \(shellQuoted(moved))")
    }
  }

  /// Refuses to fill a server from elsewhere while a move was cut short, which may have reached it.
  func refuseFilling() throws {
    if case .left = try state() { return }
    try refuseService()
  }

  /// Marks the file: the next step decides.
  func beginLeaving(_ note: Note) throws { try write(Self.away, note) }

  /// Marks the place: the next step decides.
  func beginArriving(_ note: Note) throws { try write(Self.here, note) }

  /// It was decided that nothing moves.
  func forget() throws { try DurableFile.remove(moving) }

  /// It was decided that the file is the database from here on.
  func arrive() throws {
    try DurableFile.remove(moved)
    try DurableFile.remove(moving)
  }

  /// It was decided that the file is the database no more: it keeps another name.
  ///
  /// - Returns: that name; `nil` when an earlier try has given it one already.
  func leave() throws -> String? {
    var kept: String?
    if try PrivateFile.check(database) {
      let stamp = CivilDate.text(epochMilliseconds: Clocks.wallMilliseconds(), fraction: true)
      let name = "\(database).before-\(stamp.filter { $0 != ":" })"
      // The log first: without its file it is nothing, and the file without its log is not all of it.
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
        "\(path) does not say in a known format where the database \(database) is",
        hint: "a newer version may have written the file: use that version")
    }
    return (lines[1], Note(name: lines[2], place: lines[3]))
  }
}
