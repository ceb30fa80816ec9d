import CommandKit
import RegentHTTPCodec
import RegentPairing
import PairingService
import PairingStore
import PairingStorePostgreSQL
import PairingStoreSQLite
import PostgreSQL
import RegentPlatform

/// `regentd restore`: replaces the database with a backup while no service runs.
enum RestoreCommand {
  static let command = Command(
    "restore", "replace the database with a backup",
    details: """
      Stop the service first. The command checks that the backup is complete, that the master key opens it, and the \
      signature of every row. If a database file exists, it asks first (or needs --yes) and keeps that file under \
      another name.

      Codes and phone sessions are not restored, so a used or ended one cannot be used again. Boxes stay signed in. \
      Sign-outs and disabled accounts since the backup are undone: check the audit log in the file that was kept. The \
      numbers of "regentctl stats" are those of the backup if it is from today.

      With --database postgresql://…, that database must be empty. Everything is written in one transaction; the role \
      creates the tables and needs CREATE on the schema.

      As root, the command reads FILE and then runs as the owner of the database's folder, so that the files belong to \
      that user.
      """,
    inputs: [file, ServeCommand.database, ServeCommand.databasePasswordFile, ServeCommand.masterKey, yes],
    environmentPrefix: "REGENT_",
    example: "regentd restore /var/backups/regent-2026-11-20.db --yes"
  ) { call in
    let backup = OpenBackup(try BackupFile(path: call[file]).open(), path: call[file])
    let person = Accounts.effectiveUser
    try StateOwner.become(ofDatabase: try ServicePaths.ownFile(call))
    let paths = try ServicePaths(ofDatabase: call)
    let restored: RestoreReport
    if let server = paths.server {
      let room = DatabaseCopy(call)
      defer { room.remove() }
      restored = try await restore(backup, to: server, room, paths, call.console, by: person)
    } else {
      if try RestoredDatabase(of: paths.database).there() != nil {
        try Prompt.confirm(
          "replace the database with \(call[file]); the current one is kept under another name", unless: yes, call)
      }
      restored = try await restore(backup, paths, by: person)
    }
    call.console.print("\(paths.shownDatabase) is restored from \(call[file])")
    if let kept = restored.kept { call.console.print("the previous database is kept as \(kept)") }
    call.console.print(restored.numbers)
    for remark in restored.remarks { call.console.print(remark) }
    if paths.server == nil, call.source(of: ServeCommand.masterKey) == "--master-key" {
      call.console.print(
        "the service needs the same key: start it with --master-key, or copy the key to the default place:")
      call.console.print(
        "  cp -p \(shellQuoted(paths.masterKey)) \(shellQuoted("\(folder(of: paths.database))/master-key"))"
      )
    }
    call.console.print("start the service (with systemd: systemctl start regentd)")
  }

  private static let file = Input.argument("FILE", .file, "a file that regentctl backup wrote")
  private static let yes = Input.flag("yes", "do not ask for confirmation").saidEachTime()
}

/// A backup that was opened before this process switched to another user.
private final class OpenBackup: Sendable {
  let file: FileDescriptor
  let path: String

  init(_ file: consuming FileDescriptor, path: String) {
    self.file = file
    self.path = path
  }
}

/// The result of a restore.
private struct RestoreReport {
  /// The path where the previous database is kept.
  var kept: String?
  /// A sentence that says whether today's counters of `regentctl stats` come from the backup or start at zero.
  let numbers: String
  let remarks: [String]
}

/// Restores a backup to an empty database on a server.
private func restore(
  _ backup: OpenBackup, to server: ConnectionSettings, _ room: DatabaseCopy, _ paths: ServicePaths,
  _ console: Console, by person: UInt32
) async throws -> RestoreReport {
  try MasterKeyFile(paths).refusePendingChange()
  for database in try MovedDatabase.marked(in: paths.stateFolders) { try database.refuseFilling() }
  try await refuseUnfit(server)
  try room.makeRoom()
  let ending = try prepare(room.path, of: backup)
  let mark = CopyMark(action: epochAction, detail: "\(epochDetail) (\(newCopyName()))")
  let (numbers, gaps) = try await check(
    room.path, backup.path, ending, paths, copyEntry(mark, by: person), isForFile: false)
  _ = try await fill(server, from: room.path, paths, mark: mark, console)
  return restored(numbers, gaps, ending)
}

private func restored(_ numbers: String?, _ gaps: [String], _ ending: BackupFile.Ending) -> RestoreReport {
  var remarks = gapRemark(gaps)
  if ending.seal == nil {
    remarks.append(
      "warning: version 0.1.0 made this backup without a signature, so missing rows cannot be detected; make a new one soon: regentctl backup FILE"
    )
  }
  return RestoreReport(
    numbers: fate(of: numbers, at: Instant(milliseconds: Clocks.wallMilliseconds())), remarks: remarks)
}

private func restore(_ backup: OpenBackup, _ paths: ServicePaths, by person: UInt32) async throws -> RestoreReport {
  try checkOwner(of: folder(of: paths.database))
  let lock: FileLock
  do throws(FileError) {
    lock = try FileLock(beside: paths.database)
  } catch {
    guard case .held = error.kind else { throw error }
    throw CommandError(
      "the service is running: \(error.description)",
      hint: "stop it first (with systemd: systemctl stop regentd)")
  }
  try MasterKeyFile(paths).refusePendingChange()
  try MovedDatabase(of: paths.database).refuseService()
  let draft = "\(paths.database).restoring"
  do {
    let ending = try prepare(draft, of: backup)
    if ending.seal == nil { try refuseUnsealed(backup.path, insteadOf: RestoredDatabase(of: paths.database).there()) }
    let entry = copyEntry(CopyMark(action: epochAction, detail: epochDetail), by: person)
    let (numbers, gaps) = try await check(draft, backup.path, ending, paths, entry, isForFile: true)
    let kept = try RestoredDatabase(of: paths.database).exchange(for: draft)
    lock.release()
    var result = restored(numbers, gaps, ending)
    result.kept = kept
    return result
  } catch {
    for suffix in ["", "-wal", "-shm", ".lock"] { try? DurableFile.remove(draft + suffix) }
    throw error
  }
}

/// Throws if a backup without a seal would replace the database of a version that seals its backups.
///
/// An attacker who may write to a backup could otherwise give it the form of version 0.1.0 and leave rows out.
private func refuseUnsealed(_ backup: String, insteadOf database: String?) throws {
  guard let database else { return }
  let file = BackupFile(path: database)
  guard try file.schemaVersion(of: file.open()) > SQLiteStore.newestUnsealedSchema else { return }
  throw CommandError(
    "\(backup) has no signature at its end (seal), but the backups of this service have one",
    hint: "use a backup with a seal; to restore a backup of version 0.1.0 all the same, first move the database away: "
      + "mv \(shellQuoted(database)) \(shellQuoted(database + ".old"))")
}

/// Throws if the folder belongs to another user: the service, which runs as that user, could not open files that this
/// process creates there.
private func checkOwner(of folder: String) throws {
  do throws(FileError) {
    try PrivateDirectory.ensure(folder, widest: 0o7777)
  } catch {
    guard case .foreignOwner(let owner) = error.kind else { throw error }
    let name = Accounts.title(of: owner, numberedBy: "#")
    throw CommandError(
      "\(folder) belongs to user \(name), so the restored database must belong to that user as well",
      hint: "run the same command as that user: put sudo -u \(shellQuoted(name)) before it")
  }
}

/// Copies the backup beside the database, so that a backup on another disk is read only once, and replacing the
/// database is only a rename.
private func prepare(_ draft: String, of backup: OpenBackup) throws -> BackupFile.Ending {
  for suffix in ["", "-wal", "-shm"] { try DurableFile.remove(draft + suffix) }
  return try BackupFile(path: backup.path).extract(from: backup.file, to: draft)
}

/// A sentence about today's numbers in `regentctl stats` after the restore.
private func fate(of numbers: String?, at now: Instant) -> String {
  let taken = numbers.flatMap(DayNumbers.keptTime).map {
    ", taken at \(CivilDate.text(epochMilliseconds: $0.milliseconds, fraction: false))"
  }
  guard let numbers, DayNumbers(keptAs: numbers, at: now) != nil else {
    return
      "today's numbers (regentctl stats) start from zero: the backup\(taken.map { "\($0)," } ?? "") has none of today"
  }
  return "today's numbers are those of the backup\(taken ?? "")"
}

/// Throws if a backup is damaged, was changed or is sealed with another key.
///
/// Records in the backup's audit log that it was restored.
///
/// - Returns: today's numbers in it, and the gaps in its audit log.
private func check(
  _ draft: String, _ backup: String, _ ending: BackupFile.Ending, _ paths: ServicePaths, _ entry: AuditEntry,
  isForFile: Bool
) async throws -> (numbers: String?, gaps: [String]) {
  let numbers: String?
  let gaps: [String]
  let now = Instant(milliseconds: Clocks.wallMilliseconds())
  var copied = paths
  copied.database = draft
  let store: SQLiteStore
  do {
    let paths = copied
    store = try await onThread("restore") { try openStore(paths) { _ in } }
  } catch StoreKeyFailure.wrongMasterKey {
    throw CommandError(
      "\(backup) was made with another master key than \(paths.masterKey)",
      hint:
        "add --master-key FILE with the key of that time; the service keeps a replaced key as "
        + "\(paths.masterKey).until-TIME"
    )
  } catch let error as FileError {
    throw CommandError(
      "\(error.description); the backup itself is fine",
      hint: error.hint ?? "correct this, then run the same command again")
  } catch {
    throw CommandError(
      "\(backup) cannot be opened: \(explained(error)?.message ?? "\(error)")",
      hint: "use an older backup")
  }
  do {
    // The seal cannot be checked earlier: the key that verifies it is in the database, encrypted with the master key.
    if let seal = ending.seal, try !store.isSeal(seal, ofBackup: ending.hash) {
      throw CommandError(
        "\(backup) is damaged: its content has changed, or another service signed it",
        hint: "use an older backup, and check who can write to this file")
    }
    let problems = try await store.integrityProblems()
    guard problems.isEmpty else {
      throw CommandError("\(backup) is damaged: \(problems[0])", hint: "use an older backup")
    }
    let bad = try await store.verifyRows()
    guard bad == 0 else {
      throw CommandError(
        "\(backup) was changed: \(counted(bad, "row has", "rows have")) an invalid signature",
        hint: "use an older backup")
    }
    gaps = try await store.auditProblems()
    numbers = try await dayNumbers(in: store)
    try await store.beginEpoch(audit: entry)
    // A backup of a server contains the time at which it was made. A backup of a file does not; the time of its
    // counters of the day takes its place, because they are stored just before the backup is made.
    let noted = try await store.keptNumbers(.backup).flatMap(Int64.init).map(Instant.init(milliseconds:))
    if let made = [noted, numbers.flatMap(DayNumbers.keptTime)].compactMap(\.self).filter({ $0 <= now }).max() {
      try await store.keepNumbers(String(made.milliseconds), as: .backup)
    }
    // On a server each node has its own numbers; a file gets the sum of all nodes.
    if isForFile, let numbers { try await keepDayNumbers(numbers, in: store) }
    try await onThread("restore") { store.close() }
  } catch {
    store.close()
    throw error
  }
  guard try !PrivateFile.check("\(draft)-wal") else {
    throw CommandError(
      "the temporary copy \(draft) of the backup is incomplete: its file \(draft)-wal is left",
      hint: "the backup is fine and the database was not changed; run the same command again")
  }
  try DurableFile.remove("\(draft).lock")
  return (numbers, gaps)
}

private let epochAction = "backup.restore"
private let epochDetail = "a backup was restored without its codes and phone sessions"
