import CommandKit
import Glibc
import PairingStore
import PairingStorePostgreSQL
import PairingStoreSQLite
import PostgreSQL
import RegentPairing
import RegentPlatform

/// `regentd backup`: copies a database on a server into a file, beside the services that use it.
enum BackupCommand {
  static let command = Command(
    "backup", "copy a database on a server into a file",
    details: """
      Services go on meanwhile: the copy is the database as it is at one moment. It is a file like those of regentctl \
      backup, and regentd restore puts it into an empty database on a server, or in the place of one in a file. Every \
      row's signature is checked on both sides before the copy is called good. It needs the master key to be of use: \
      keep that file too, and not beside it.

      Until it is whole it lies in $TMPDIR, else in /var/tmp. Root does it as the user whose folder the master key is \
      in, who must be able to write where FILE is to be.
      """,
    inputs: [file, ServeCommand.database, ServeCommand.databasePasswordFile, ServeCommand.masterKey],
    environmentPrefix: "REGENT_",
    example: "regentd backup /var/backups/regent-2026-11-20.db --database postgresql://regent@db.example.org/regent"
  ) { call in
    let person = Accounts.effectiveUser
    try StateOwner.become(ofDatabase: try ServicePaths.ownFile(call))
    let paths = try ServicePaths(ofDatabase: call)
    guard let server = paths.server else {
      throw CommandError.usage(
        "this copies a database on a server, and --database names none",
        hint: "the service copies one in a file itself: regentctl backup \(shellQuoted(call[file]))")
    }
    // First of all: a copy that has no place to go is not worth making.
    let target = try place(call[file])
    let draft = DatabaseCopy(call)
    defer { draft.remove() }
    let count = RowCount()
    let (made, sent) = try await call.console.progress("copying \(counted(count.now, "row"))") {
      try await backup(paths, into: draft, count)
    }
    try write(draft.path, into: target)
    call.console.print("\(call[file]): \(made.size) bytes, \(counted(sent.rows, "row")), checked and good")
    for remark in gapRemark(sent.gaps) { call.console.print(remark) }
    do {
      try await note(on: server, paths, by: person)
    } catch {
      // It is no worse for it.
      call.console.print("that it was made could not be written down: \(explained(error)?.message ?? "\(error)")")
    }
  }

  private static let file = Input.argument("FILE", .file, "the copy, which must not be there yet")

  private static func place(_ path: String) throws -> NewFile {
    do throws(FileError) {
      return try NewFile(path)
    } catch {
      guard case .system(let reason) = error.kind else { throw error }
      switch reason.code {
      case EEXIST: throw CommandError("\(path) is there already", hint: "choose another name")
      case EACCES:
        let name = (try? Accounts.user(id: Accounts.effectiveUser))??.name ?? "this user"
        throw CommandError(error.description, hint: "name a place where \(name) may write")
      default: throw error
      }
    }
  }

  private static func write(_ path: String, into target: consuming NewFile) throws {
    let file = try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW)
    while true {
      let part = try file.read(atMost: 1 << 20, from: path)
      if part.isEmpty { break }
      try target.write(part)
    }
    try target.finish()
  }

  /// Writes down that there is a copy of everything, and when it was made.
  private static func note(on server: ConnectionSettings, _ paths: ServicePaths, by person: UInt32) async throws {
    let store = try await onThread("backup") {
      try MasterKeyFile(paths).look { key in
        try PostgreSQLStore(
          PostgreSQLStoreOptions(
            connection: server, masterKey: key, node: "backup",
            wallClock: { Instant(milliseconds: Clocks.wallMilliseconds()) }))
      }
    }
    do {
      try await store.append(copyEntry(CopyMark(action: "backup.make", detail: "by regentd backup"), by: person))
      try await store.keepNumbers(String(Clocks.wallMilliseconds()), as: .backup)
    } catch {
      store.close()
      throw error
    }
    try await onThread("backup") { store.close() }
  }
}
