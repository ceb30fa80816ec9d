import CommandKit
import PostgreSQL
import RegentPlatform

/// `regentd move`: moves the database from a file to a server, or back, while no service runs.
enum MoveCommand {
  static let command = Command(
    "move", "move the database from a file to a PostgreSQL server, or back",
    details: """
      Stop the service first. The command moves every row: codes, sign-ins, phone sessions, keys and the audit log. \
      Boxes notice only a restart. Before the old database is closed, all rows are compared and their signatures are \
      checked on both sides.

      --to: the database on the server must be empty. Everything is written in one transaction; the role creates the \
      tables and needs CREATE on the schema. The file is renamed, and services refuse to start with it.

      --from: the file must not exist. Services refuse to start with the database on the server afterwards.

      If the command is interrupted, run it again: it continues where it stopped. The master key is not moved. A move \
      to a server keeps a temporary copy in $TMPDIR, or in /var/tmp.
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
        "\(place) is not a database on a server", hint: "use the form postgresql://USER@HOST/DATABASE")
    }
    let move = Move(server: server, place: place, paths: paths, console: call.console, person: person)
    if call[to] != nil { try await move.away(DatabaseCopy(call)) } else { try await move.here() }
  }

  private static let to = Input.option(
    "to", .text("URL"), "the server's database to move to: postgresql://USER@HOST/DATABASE")
  private static let from = Input.option(
    "from", .text("URL"), "the server's database to move from")
}

/// One move of a database between a file and a server, in either direction.
struct Move {
  let server: ConnectionSettings
  /// The URL of the database server as the user typed it.
  let place: String
  /// The paths of the file and of the master key.
  let paths: ServicePaths
  let console: Console
  let person: UInt32

  /// Locks the database file, so that no service opens it during the move.
  ///
  /// The code that copies the rows locks the database on the server.
  func lock() throws -> FileLock {
    do throws(FileError) {
      return try FileLock(beside: paths.database)
    } catch {
      guard case .held = error.kind else { throw error }
      throw CommandError(
        "the service is running: \(error.description)", hint: "stop it first (with systemd: systemctl stop regentd)")
    }
  }

  /// Throws if an earlier move was interrupted that had another server than this one.
  func refuseOtherPlace(_ note: MovedDatabase.Note) throws {
    guard note.place == place else {
      throw CommandError(
        "an earlier move of \(paths.database) to or from \(note.place) was interrupted",
        hint: "finish that move first: run the same command again with \(shellQuoted(note.place))")
    }
  }
}
