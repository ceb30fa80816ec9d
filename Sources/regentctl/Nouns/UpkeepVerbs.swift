import Administration
import CommandKit
import Glibc
import RegentJSON
import RegentPairing
import RegentPlatform

/// The commands `regentctl backup`, `restore` and `doctor`.
enum UpkeepVerbs {
  static let backup = verb(
    "backup", "back up the database of the running service to a file",
    details: """
      The service keeps running. The command checks the integrity of the copy and the signature of every row. A backup \
      can only be restored with the master key: keep a copy of that file, too, in another place.

      With --keep N, FILE is a folder. The backup gets a name with the time in it, and the command deletes all but the \
      newest N backups with such names. It deletes nothing before the new backup is complete.
      """,
    inputs: [file, keep], example: "backup /var/backups/regent-2026-11-20.db"
  ) { call, admin in
    guard call[file] != "-" else {
      throw CommandError.usage(
        "a backup cannot be written to standard output, because it is checked after writing",
        hint: "give a file: regentctl backup /var/backups/regent.db")
    }
    if let count = call[keep] {
      let folder = BackupFolder(call[file])
      let entry = try await copy(into: folder.nextPath, call, admin)
      try folder.keep(count, andAlways: folder.name(of: entry.path))
      return show(entry, call)
    }
    show(try await copy(into: call[file], call, admin), call)
  }

  /// A backup that was completed.
  struct Copy {
    let path: String
    let entry: BackupEntry
  }

  /// Makes the service copy its database, and stores the copy in a new file.
  static func copy(into path: String, _ call: Invocation, _ admin: AdminClient) async throws -> Copy {
    // The file is opened first, so that no copy is made that cannot be stored.
    let place = try newFile(path)
    let entry = try await call.console.progress("copying the database") {
      try await admin.makeBackup()
    }
    do {
      try await fetch(entry, into: place, admin)
    } catch {
      try? await admin.dropBackup(entry.id, wasKept: false)
      throw error
    }
    try await admin.dropBackup(entry.id, wasKept: true)
    return Copy(path: path, entry: entry)
  }

  private static func show(_ copy: Copy, _ call: Invocation) {
    var document = copy.entry.object
    document["id"] = nil
    document["file"] = .string(copy.path)
    call.show(.object(document), lines: ["\(copy.path): \(copy.entry.size) bytes, verified"])
    if Connection.isOfMachine(call), !call.wantsJSON {
      call.console.note(
        "not in the backup: \(MissingFromBackup.files.joined(separator: ", ")); keep copies of these, too")
    }
  }

  static let restore = Command(
    "restore", "replace the database of a stopped service with a backup",
    details: """
      Stop the service first. The command runs "regentd restore" with the same options and asks before it changes \
      anything. The current database is kept under another name. See "regentd restore --help".
      """,
    inputs: [backupFile, database, masterKey, yes],
    example: "regentctl restore /var/backups/regent-2026-11-20.db --yes"
  ) { call in
    var words = ["restore", call[backupFile]]
    if let path = call[database] { words += ["--database", path] }
    if let path = call[masterKey] { words += ["--master-key", path] }
    if call[yes] { words.append("--yes") }
    let program = ProgramPlace.prefix.map { "\($0)/bin/regentd" } ?? "regentd"
    try ProgramReplacement.run(program, words)
  }

  static let doctor = verb(
    "doctor", "check the service and print how to fix each problem", example: "doctor"
  ) { call, admin in
    let findings = await findings(call, admin)
    call.show(.array(findings.map(\.json)), lines: findings.flatMap(lines))
    if findings.contains(where: { $0.status == .bad }) { throw QuietExit(.failed) }
  }

  /// Runs the checks; a service that does not answer is a finding, too.
  static func findings(_ call: Invocation, _ admin: AdminClient) async -> [Finding] {
    do throws(AdminError) {
      let service = try await admin.service()
      return [versions(service)] + (try await admin.doctor()).map(KnownAdvice.checked) + NightlyBackup.findings(call)
        + Announcing.findings(call) + MachineClock.findings() + (await AuditMark.findings(call, admin))
    } catch {
      return [Finding("service", .bad, error.message, fix: error.hint)]
    }
  }

  private static let backupFile = Input.argument(
    "FILE", .file, "a file that regentctl backup wrote")
  private static let database = Input.option(
    "database", .file, "the service's database (default: regent.db in the data directory)")
  private static let masterKey = Input.option(
    "master-key", .file, "the master key of the backup (default: the service's)")
  private static let file = Input.argument(
    "FILE", .file, "the backup to create, a new file; with --keep an existing folder")
  private static let keep = Input.option(
    "keep", .integer(1...10_000), "the number of backups to keep in the folder FILE")

  private static func versions(_ service: ServiceInfo) -> Finding {
    guard service.version == regentVersion else {
      return Finding(
        "service", .warning,
        "the service is version \(service.version), regentctl is \(regentVersion)",
        fix: "restart the service (with systemd: systemctl restart regentd)")
    }
    return Finding("service", .good, "version \(service.version), since \(shown(service.started))")
  }

  /// A finding as lines of text.
  static func lines(_ finding: Finding) -> [String] {
    let mark =
      switch finding.status {
      case .good: "ok  "
      case .warning: "warn"
      case .bad: "BAD "
      }
    return ["\(mark)  \(finding.check): \(finding.detail)"] + (finding.fix.map { ["      fix: \($0)"] } ?? [])
  }

  private static func newFile(_ path: String) throws -> NewFile {
    do throws(FileError) {
      return try NewFile(path)
    } catch {
      guard case .system(let reason) = error.kind, reason.code == EEXIST else { throw error }
      throw CommandError("\(path) already exists", hint: "give another file name; nothing was changed")
    }
  }

  /// Downloads the copy in parts; the file gets its name when it is complete and on disk.
  private static func fetch(
    _ entry: BackupEntry, into file: consuming NewFile, _ admin: AdminClient
  ) async throws {
    var offset: Int64 = 0
    while offset < entry.size {
      let part = try await admin.backupPart(entry.id, from: offset)
      guard !part.isEmpty, Int64(part.count) <= entry.size - offset else {
        throw CommandError(
          "the service sent only a part of the backup; no file was written",
          hint: "run the command again; if it fails again, read the service's log: journalctl -u regentd -n 20")
      }
      try file.write(part)
      offset += Int64(part.count)
    }
    try file.finish()
  }
}
