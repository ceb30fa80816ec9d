import CommandKit
import PairingService
import PairingStore
import PairingStorePostgreSQL
import PairingStoreSQLite
import PostgreSQL
import RegentCryptography
internal import RegentEncodings
import RegentPairing
import RegentPlatform
import RegentSQL

/// The number of rows that were processed until now, for the progress line.
final class RowCount: Sendable {
  private let count = Locked(0)

  var now: Int { count.withLock { $0 } }

  func note(_ rows: Int) { count.withLock { $0 = rows } }
}

/// Copies all rows from a server into a new file, and opens the file as the service would.
///
/// The content must be the same.
///
/// `finish` runs before the copy is closed. Returns the closed store with the number of rows that were sent.
func copy(
  _ snapshot: ServerSnapshot, to path: String, _ paths: ServicePaths, _ count: RowCount = RowCount(),
  finish: @escaping @Sendable (SQLiteStore) async throws -> Void = { _ in }
) async throws -> (store: SQLiteStore, sent: StoreWalkResult) {
  let sent = try await onThread("copy") {
    let filling = try SQLiteFilling(at: path)
    defer { filling.close() }
    return try snapshot.survey(seen: count.note) { try filling.take($0) }
  }
  try refuseChanged(sent)
  let store = try await onThread("copy") { try MasterKeyFile(paths).look { key in try openStore(at: path, key) } }
  do {
    let problems = try await store.integrityProblems()
    guard problems.isEmpty else {
      throw CommandError(
        "the temporary copy \(path) of the database is damaged: \(problems[0])",
        hint: "the database itself was not changed; check the disk of that folder, then run the same command again")
    }
    let arrived = try await onThread("copy") { try store.survey(seen: count.note) }
    try compare(arrived, with: sent)
    try await finish(store)
    try await onThread("copy") { store.close() }
  } catch {
    store.close()
    throw error
  }
  guard try !PrivateFile.check("\(path)-wal") else {
    throw CommandError(
      "the temporary copy \(path) of the database is incomplete: its file \(path)-wal is left",
      hint: "the database itself was not changed; run the same command again")
  }
  try DurableFile.remove("\(path).lock")
  return (store, sent)
}

/// Makes a backup of a database on a server while services use it, and returns what was found in it.
func backup(
  _ paths: ServicePaths, into room: DatabaseCopy, _ count: RowCount = RowCount()
) async throws -> (file: (size: Int64, hash: String), sent: StoreWalkResult) {
  guard let server = paths.server else {
    throw CommandError(
      "this backup command needs a database on a PostgreSQL server, but the database is a file",
      hint: "make the backup with: regentctl backup FILE")
  }
  try room.makeRoom()
  let snapshot = try await onThread("backup") {
    try MasterKeyFile(paths).look { key in try ServerSnapshot(of: server, masterKey: key) }
  }
  defer { snapshot.close() }
  // The time is stored in the backup. The counters of the nodes do not show this time, because each node stores them at
  // other times.
  let made = String(Clocks.wallMilliseconds())
  let (store, sent) = try await copy(snapshot, to: room.path, paths, count) { store in
    try await store.keepNumbers(made, as: .backup)
  }
  let file = try await onThread("backup") { try BackupFile(path: room.path).complete(seal: store.seal(ofBackup:)) }
  return (file, sent)
}

/// The counters of the day for a copy in a file.
///
/// If the copy comes from a server, they are the sum of all nodes.
func dayNumbers(in store: SQLiteStore) async throws -> String? {
  DayNumbers.gathered(
    try await store.keptNumbers(.day), ofNodes: try await store.keptNumbersOfNodes(.day).values,
    at: Instant(milliseconds: Clocks.wallMilliseconds()))
}

/// Stores the counters of the day in a copy for a file, and removes those of the nodes, so that a later move to a
/// server on the same day counts nothing twice.
func keepDayNumbers(_ numbers: String, in store: SQLiteStore) async throws {
  try await store.keepNumbers(numbers, as: .day)
  for node in try await store.keptNumbersOfNodes(.day).keys { try await store.keepNumbers("", as: .day, of: node) }
}

/// Writes all rows of a file into an empty database on a server, in one transaction.
///
/// Returns what the verification found in the server's rows.
///
/// `mark` is an audit line that only this copy has; `decide` runs directly before the COMMIT.
func fill(
  _ server: ConnectionSettings, from path: String, _ paths: ServicePaths, mark: CopyMark, _ console: Console,
  decide: @escaping @Sendable () throws -> Void = {}
) async throws -> StoreWalkResult {
  let count = RowCount()
  return try await console.progress("copying \(counted(count.now, "row"))") {
    try await onThread("copy") {
      try MasterKeyFile(paths).look { key in
        let store = try openStore(at: path, key)
        defer { store.close() }
        let filling = try ServerFilling(server)
        defer { filling.close() }
        let sent = try store.survey(seen: count.note) { try filling.take($0) }
        let arrived = try filling.survey(masterKey: key, seen: count.note)
        try compare(arrived, with: sent)
        try decide()
        try filling.commit(mark: mark)
        return arrived
      }
    }
  }
}

/// Throws if the server has rows or if a running service uses it.
///
/// Call this before the copy, which takes long.
func refuseUnfit(_ server: ConnectionSettings) async throws {
  try await onThread("copy") { try ServerFilling(server).close() }
}

/// Throws if the database has rows that another program changed, because a copy would make them look verified.
func refuseChanged(_ found: StoreWalkResult) throws {
  guard found.unverified == 0 else {
    throw CommandError(
      "\(counted(found.unverified, "row of the database was", "rows of the database were")) changed by another program; nothing was copied",
      hint: "to see which rows, start the service and run regentctl audit tail (action row.tampered)")
  }
}

private func compare(_ arrived: StoreWalkResult, with sent: StoreWalkResult) throws {
  let different = arrived.differences(from: sent)
  guard different.isEmpty, arrived.unverified == 0, arrived.gaps == sent.gaps else {
    throw CommandError(
      "the copy differs from the database: \(different.isEmpty ? "invalid signatures" : different.joined(separator: ", "))",
      hint: "nothing was changed; stop other programs that write there, then run it again")
  }
}

/// A warning about gaps that the audit log had before it was copied.
func gapRemark(_ gaps: [String]) -> [String] {
  gaps.isEmpty ? [] : ["lines are missing in the audit log of the database: \(gaps.joined(separator: ", "))"]
}

/// Creates a unique name for one copy of the database.
func newCopyName() -> String { Hex.encode(Random.bytes(8)) }

/// The audit line about a copy and the user who made it.
func copyEntry(_ mark: CopyMark, by person: UInt32) -> AuditEntry {
  let name = (try? Accounts.user(id: person))??.name
  let actor = name.flatMap(OperatorName.init).map(AuditEntry.Actor.operator) ?? .service
  return AuditEntry(
    at: Instant(milliseconds: Clocks.wallMilliseconds()), actor: actor, action: mark.action, subject: "database",
    detail: mark.detail)
}
