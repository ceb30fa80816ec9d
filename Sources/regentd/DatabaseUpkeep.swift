import Administration
import CommandKit
import RegentCryptography
import Glibc
internal import RegentEncodings
import RegentPairing
import PairingService
import PairingStore
import PairingStoreSQLite
import RegentPlatform
import SQLite

/// Administrative work on a database in a file: backups, the master key, checks.
actor DatabaseUpkeep: AdminUpkeep {
  private let paths: ServicePaths
  private let store: SQLiteStore
  private let nextStart: NextStart
  private var copy: WaitingCopy?
  private let turn = MaintenanceLock()

  init(_ paths: ServicePaths, _ store: SQLiteStore, _ nextStart: NextStart) {
    self.paths = paths
    self.store = store
    self.nextStart = nextStart
    // A service that was killed may have left a copy. No client can fetch that copy any more, so remove it.
    removeCopy(copyPath)
  }

  // MARK: - Copies

  /// The path of each copy.
  ///
  /// All copies use the same path, so that the next start removes one that a crash left.
  private nonisolated var copyPath: String { "\(paths.database).backup/copy.db" }

  func makeBackup() async throws(AdminError) -> BackupEntry {
    try await turn.take { () throws(AdminError) in
      discard()
      let now = Instant(milliseconds: Clocks.wallMilliseconds())
      let id = Hex.encode(Random.bytes(8))
      let path = copyPath
      do {
        try PrivateDirectory.ensure("\(paths.database).backup")
        let (paths, store) = (paths, store)
        try await onThread("backup") { try store.backup(to: path) }
        try await verify(path, paths)
        let (size, hash) = try await onThread("backup") {
          try BackupFile(path: path).complete(seal: store.seal(ofBackup:))
        }
        let entry = BackupEntry(id: id, size: size, sha256: hash, created: now)
        copy = WaitingCopy(entry: entry, path: path)
        return entry
      } catch {
        removeCopy(path)
        throw AdminError(copying: error)
      }
    }
  }

  func backupPart(_ id: String, from offset: Int64, limit: Int) async throws(AdminError) -> [UInt8] {
    try copy.named(id).part(from: offset, limit: limit)
  }

  func dropBackup(_ id: String) async throws(AdminError) -> BackupEntry {
    let entry = try copy.named(id).entry
    discard()
    return entry
  }

  private func discard() {
    removeCopy(copyPath)
    copy = nil
  }

  // MARK: - The master key

  func changeMasterKey() async throws(AdminError) -> Finding {
    try await turn.take { () throws(AdminError) in
      let kept: String
      do {
        kept = try await MasterKeyFile(paths).change(of: store, nextStart.key)
      } catch {
        throw AdminError(copying: error)
      }
      return masterKeyChanged(paths, kept: kept)
    }
  }

  // MARK: - Checks

  func findings() async -> [Finding] {
    var findings: [Finding] = []
    do {
      let problems = try await store.integrityProblems()
      findings.append(
        problems.isEmpty
          ? Finding("database", .good, "\(paths.database) is intact")
          : Finding(
            "database", .bad, "\(paths.database) is damaged: \(problems[0])",
            fix: "stop the service, then run regentctl restore BACKUP"))
      findings += try await rowFindings(
        of: store, whoWrote: "check who can write to \(paths.database); an earlier backup may have what is missing")
    } catch {
      let said = AdminError(copying: error)
      findings.append(Finding("database", .bad, said.message, fix: said.hint))
    }
    findings += await nextStart.findings(of: store)
    findings.append(await diskFinding())
    return findings
  }

  /// Checks the free disk space: a backup needs as much as the database, and no change is possible on a full disk.
  private func diskFinding() async -> Finding {
    let place = folder(of: paths.database)
    do throws(StoreError) {
      try await store.tryWriting()
    } catch {
      return Finding(
        "disk", .bad, error == .diskFull ? "the disk of \(place) is full: the service can write nothing" : "\(error)",
        fix:
          "free space; the service then continues by itself: df -h \(shellQuoted(place)); du -xh \(shellQuoted(place))")
    }
    do throws(SystemError) {
      let free = try DiskSpace.free(at: place)
      let said = "\(free >> 20) MiB are free in \(place)"
      if await store.isOnReserve {
        return Finding(
          "disk", .bad, "\(said), reserved for sign-outs and operators: no new sign-ins and permits",
          fix:
            "free space; sign-ins then continue by themselves: df -h \(shellQuoted(place)); du -xh \(shellQuoted(place))"
        )
      }
      guard free < Self.scarce else { return Finding("disk", .good, said) }
      return Finding(
        "disk", .warning, said, fix: "free space before the disk is full: du -xh \(shellQuoted(place))")
    } catch {
      return Finding("disk", .warning, error.description, fix: error.hint)
    }
  }

  private static let scarce: Int64 = 256 << 20
}

/// Opens the copy and verifies the signature of every row.
private func verify(_ path: String, _ paths: ServicePaths) async throws {
  let store = try await onThread("backup") {
    var copied = paths
    copied.database = path
    return try openStore(copied) { _ in }
  }
  let bad: Int
  do {
    bad = try await store.verifyRows()
    try await onThread("backup") { store.close() }
  } catch {
    store.close()
    throw error
  }
  try DurableFile.remove("\(path).lock")
  guard bad == 0 else {
    throw StoreError.unavailable(
      reason:
        "\(counted(bad, "row of the copy was", "rows of the copy were")) changed by another program: run regentctl doctor"
    )
  }
  guard try !PrivateFile.check("\(path)-wal") else {
    throw StoreError.unavailable(reason: "the copy was not closed cleanly")
  }
}

/// Removes a copy and the files beside it.
func removeCopy(_ path: String) {
  for draft in ["", ".partial"] {
    for suffix in ["", "-wal", "-shm", "-journal", ".lock"] {
      // A failure is ignored here. The next copy removes the files that are left, or fails.
      try? DurableFile.remove(path + draft + suffix)
    }
  }
}

/// Runs blocking work on its own thread, because Swift's thread pool has only one thread per core.
func onThread<Value: Sendable>(_ name: String, _ work: @escaping @Sendable () throws -> Value)
  async throws -> Value
{
  try await withCheckedThrowingContinuation { continuation in
    do throws(SystemError) {
      try DedicatedThread.start(named: name) {
        continuation.resume(with: Result { try work() })
      }
    } catch {
      continuation.resume(throwing: error)
    }
  }
}
