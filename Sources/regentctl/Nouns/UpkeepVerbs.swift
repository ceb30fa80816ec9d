import Administration
import CommandKit
import Glibc
import RegentJSON
import RegentPairing
import RegentPlatform

/// `regentctl backup` and `doctor`.
enum UpkeepVerbs {
  static let backup = verb(
    "backup", "copy the database of the running service into a file",
    details: """
      The service goes on meanwhile. The copy is checked (integrity and the signature of every row) before it is \
      called good. It needs the master key to be of use: keep that file too, and not beside it.

      With --keep the word is a folder: the copy gets a name with the time in it, and of the copies with such names the \
      newest ones stay. No copy is removed before the new one is whole.
      """,
    inputs: [file, keep], example: "backup /var/backups/regent-2026-11-20.db"
  ) { call, admin in
    guard call[file] != "-" else {
      throw CommandError.usage(
        "a backup goes into a file: it is checked again when it is written",
        hint: "name a file: regentctl backup /var/backups/regent.db")
    }
    if let count = call[keep] {
      let folder = BackupFolder(call[file])
      let entry = try await copy(into: folder.nextPath, call, admin)
      try folder.keep(count, andAlways: folder.name(of: entry.path))
      return show(entry, call)
    }
    show(try await copy(into: call[file], call, admin), call)
  }

  /// A copy that is in its place.
  struct Copy {
    let path: String
    let entry: BackupEntry
  }

  /// Has the service copy its database into a file that must not be there yet.
  static func copy(into path: String, _ call: Invocation, _ admin: AdminClient) async throws -> Copy {
    // First of all: a copy that has no place to go is not worth making.
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
    call.show(.object(document), lines: ["\(copy.path): \(copy.entry.size) bytes, checked and good"])
    if Connection.isOfMachine(call), !call.wantsJSON {
      call.console.note("not in it: \(MissingFromBackup.files.joined(separator: ", ")); keep copies of them elsewhere")
    }
  }

  static let restore = Command(
    "restore", "put a backup in the place of the database of a stopped service",
    details: """
      Runs regentd restore, which alone opens the database, and asks first: see regentd restore --help. The service \
      must be stopped. What is there now is kept under another name.
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
    "doctor", "look for what is wrong and say how to put it right", example: "doctor"
  ) { call, admin in
    let findings = await findings(call, admin)
    call.show(.array(findings.map(\.json)), lines: findings.flatMap(lines))
    if findings.contains(where: { $0.status == .bad }) { throw QuietExit(.failed) }
  }

  /// What the checks find; a service that does not answer is a finding, too.
  static func findings(_ call: Invocation, _ admin: AdminClient) async -> [Finding] {
    do throws(AdminError) {
      let service = try await admin.service()
      return [versions(service)] + (try await admin.doctor()) + NightlyBackup.findings(call)
        + Announcing.findings(call) + MachineClock.findings()
    } catch {
      return [Finding("service", .bad, error.message, fix: error.hint)]
    }
  }

  private static let backupFile = Input.argument(
    "FILE", .file, "a file that regentctl backup wrote")
  private static let database = Input.option(
    "database", .file, "the service's database; by default regent.db in the data directory")
  private static let masterKey = Input.option(
    "master-key", .file, "the key that belongs to the backup; by default the service's")
  private static let file = Input.argument(
    "FILE", .file, "the copy, which must not be there yet; with --keep a folder")
  private static let keep = Input.option(
    "keep", .integer(1...10_000), "make one more copy in a folder, and keep the newest so many")

  private static func versions(_ service: ServiceInfo) -> Finding {
    guard service.version == regentVersion else {
      return Finding(
        "service", .warning,
        "the service is version \(service.version), this is \(regentVersion)",
        fix: "restart the service (with systemd: systemctl restart regentd)")
    }
    return Finding("service", .good, "version \(service.version), since \(shown(service.started))")
  }

  /// A finding as people read it.
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
      throw CommandError("\(path) is there already", hint: "choose another name")
    }
  }

  /// Fetches the copy part by part; the file gets its name when all of it is there and on disk.
  private static func fetch(
    _ entry: BackupEntry, into file: consuming NewFile, _ admin: AdminClient
  ) async throws {
    var offset: Int64 = 0
    while offset < entry.size {
      let part = try await admin.backupPart(entry.id, from: offset)
      guard !part.isEmpty, Int64(part.count) <= entry.size - offset else {
        throw CommandError("the copy ended early", hint: "try again")
      }
      try file.write(part)
      offset += Int64(part.count)
    }
    try file.finish()
  }
}
