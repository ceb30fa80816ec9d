import CommandKit
import PostgreSQL
import RegentPlatform

/// `regentd move`: takes everything from a file to a server, or back, while no service runs.
enum MoveCommand {
  static let command = Command(
    "move", "take the database from a file to a server, or back",
    details: """
      The service must be stopped. Every row goes along as it is: codes that wait, sign-ins, phone sessions, keys and \
      the audit log; a box notices no more than a restart. Each row's signature is checked on both sides, and all rows \
      are counted and compared, before the step that decides.

      --to: the database on the server must be empty, and gets everything in one transaction; the role makes the \
      tables, and needs CREATE on the schema for that. The file keeps another name, and services refuse to start with it. --from: there must be no file yet, and the database on the server is \
      closed to all services afterwards. Whoever is killed types the same again: it finds out how far it came.

      The master key stays where it is. A copy lies in $TMPDIR, else in /var/tmp, until the end of a move to a server.
      """,
    inputs: [
      to, from, ServeCommand.database, ServeCommand.databasePasswordFile, ServeCommand.masterKey,
    ],
    rules: [.atMostOne([to, from]), .someOf([to, from])], environmentPrefix: "REGENT_",
    example: "regentd move --to postgresql://regent@db.example.org/regent"
  ) { call in
    let person = Accounts.effectiveUser
    try StateOwner.become(ofDatabase: try ServicePaths.database(call))
    let place = call[to] ?? call[from] ?? ""
    let paths = try ServicePaths(ofFile: call)
    guard let server = try ServicePaths.server(place, call) else {
      throw CommandError.usage(
        "\(place) is no database on a server", hint: "write it as postgresql://USER@HOST/DATABASE")
    }
    let move = Move(server: server, place: place, paths: paths, console: call.console, person: person)
    if call[to] != nil { try await move.away(DatabaseCopy(call)) } else { try await move.here() }
  }

  private static let to = Input.option(
    "to", .text("URL"), "the database on a server that gets everything: postgresql://USER@HOST/DATABASE")
  private static let from = Input.option(
    "from", .text("URL"), "the database on a server that gives everything")
}

/// One move, in either direction.
struct Move {
  let server: ConnectionSettings
  /// The server as it was given.
  let place: String
  /// The file and the key to both.
  let paths: ServicePaths
  let console: Console
  let person: UInt32

  /// Keeps every service from the file; the server is kept from them by the copy itself.
  func lock() throws -> FileLock {
    do throws(FileError) {
      return try FileLock(beside: paths.database)
    } catch {
      guard case .held = error.kind else { throw error }
      throw CommandError(
        "the service is running: \(error.description)", hint: "stop it first (with systemd: systemctl stop regentd)")
    }
  }

  /// Refuses to finish a move that went elsewhere.
  func refuseOtherPlace(_ note: MovedDatabase.Note) throws {
    guard note.place == place else {
      throw CommandError(
        "a move of \(paths.database) was cut short, and the other place was \(note.place)",
        hint: "finish that one first, with that address")
    }
  }
}
