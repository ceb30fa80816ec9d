import CommandKit
import Glibc
import PairingStore
import PairingStorePostgreSQL
import PairingStoreSQLite
import PostgreSQL
import RegentPairing
import RegentPlatform

/// `regentd backup`: copies a database on a server into a file while services use it.
enum BackupCommand {
  static let command = Command(
    "backup", "back up a database on a PostgreSQL server to a file",
    details: """
      The services keep running; the backup is a snapshot of one moment, and the signature of every row is checked. \
      The file has the same format as those of "regentctl backup": "regentd restore" restores it to an empty database \
      on a server or to a file. It can only be restored with the master key: keep a copy of that file, too, in another \
      place.

      A temporary copy is made in $TMPDIR, or in /var/tmp. As root, the command runs as the owner of the master key's \
      folder; that user must be able to write FILE.
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
        "--database does not name a database on a server",
        hint: "for a database in a file, use regentctl backup \(shellQuoted(call[file]))")
    }
    // Check the target file first. Otherwise the command would make a long copy that it cannot store.
    let target = try place(call[file])
    let draft = DatabaseCopy(call)
    defer { draft.remove() }
    let count = RowCount()
    let (made, sent) = try await call.console.progress("copying \(counted(count.now, "row"))") {
      try await backup(paths, into: draft, count)
    }
    try write(draft.path, into: target)
    call.console.print("\(call[file]): \(made.size) bytes, \(counted(sent.rows, "row")), verified")
    for remark in gapRemark(sent.gaps) { call.console.print(remark) }
    do {
      try await note(on: server, paths, by: person)
    } catch {
      // The backup itself is complete. Only the audit line about it could not be written.
      call.console.print(
        "warning: the backup could not be recorded in the audit log: \(explained(error)?.message ?? "\(error)")")
    }
  }

  private static let file = Input.argument("FILE", .file, "the backup to create, a new file")

  private static func place(_ path: String) throws -> NewFile {
    do throws(FileError) {
      return try NewFile(path)
    } catch {
      guard case .system(let reason) = error.kind else { throw error }
      switch reason.code {
      case EEXIST: throw CommandError("\(path) already exists", hint: "give another file name; nothing was changed")
      case EACCES:
        let name = (try? Accounts.user(id: Accounts.effectiveUser))??.name ?? "this user"
        throw CommandError(error.description, hint: "choose a folder where \(name) may write")
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

  /// Records in the audit log that a backup was made, and when.
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
