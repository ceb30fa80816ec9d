import CommandKit
import RegentCryptography
import RegentHTTPCodec
import RegentPairing
import PairingStore
import PairingStorePostgreSQL
import PairingStoreSQLite
import PostgreSQL
import RegentPlatform
import SQLite

/// Opens the database with its master key.
///
/// The first start creates both. A service (`isOfService`) refuses to start with an empty database in place of a lost
/// one.
func openStore(
  _ paths: ServicePaths, isOfService: Bool = false, holding held: HeldMasterKey? = nil,
  onMigration: @escaping @Sendable (MigrationProgress) -> Void = { _ in },
  onFailStop: @escaping @Sendable (SQLiteError) -> Void
) throws -> SQLiteStore {
  try MovedDatabase(of: paths.database).refuseService()
  try RestoredDatabase(of: paths.database).finish()
  let mark = isOfService ? DatabaseMark(of: paths.database) : nil
  try mark?.refuseLoss()
  let opened = try MasterKeyFile(paths).open(isSealed: { try PrivateFile.check(paths.database) }) { key in
    let store = try openStore(at: paths.database, key, onMigration: onMigration, onFailStop: onFailStop)
    held?.hold(key)
    return store
  }
  mark?.set()
  return opened
}

/// An empty file beside the database, which says that there is one.
///
/// Without it, a service whose database was lost would start with an empty one, and its nightly backups would replace
/// those of the lost one.
struct DatabaseMark {
  private let database: String
  private var path: String { "\(database).made" }

  init(of database: String) { self.database = database }

  /// Throws if the database was lost.
  func refuseLoss() throws {
    guard try !PrivateFile.check(database), (try? PrivateFile.check(path)) == true else { return }
    throw CommandError(
      "the database \(database) is missing; the service had one here before",
      hint:
        "restore the last backup: regentctl restore FILE (nightly backups are in /var/backups/regentd); to give up all "
        + "data and start with an empty database, run rm \(shellQuoted(path))")
  }

  /// Writes the mark.
  ///
  /// A failure is ignored: the service can run without the mark, and the next start tries again.
  func set() {
    guard (try? PrivateFile.check(path)) == false else { return }
    try? DurableFile.write([], to: path)
  }
}

/// Opens a database with this master key.
func openStore(
  at path: String, _ key: Secret, onMigration: @escaping @Sendable (MigrationProgress) -> Void = { _ in },
  onFailStop: @escaping @Sendable (SQLiteError) -> Void = { _ in }
) throws -> SQLiteStore {
  var options = SQLiteStoreOptions(
    path: path, masterKey: key,
    wallClock: { Instant(milliseconds: Clocks.wallMilliseconds()) })
  options.onFailStop = onFailStop
  options.onMigration = onMigration
  return try SQLiteStore(options)
}

/// Throws if SQLite's integrity check fails.
func refuseDamage(of store: SQLiteStore, _ paths: ServicePaths) async throws {
  guard let problem = try await store.integrityProblems().first else { return }
  throw CommandError(
    "the database \(paths.database) is damaged: \(problem)",
    hint: "stop the service, then restore the last backup: regentctl restore FILE")
}

/// The message and the hint for an error of the store; nil for other errors.
func storeSentence(_ error: any Error) -> CommandError? {
  switch error {
  case let error as StoreKeyFailure:
    return CommandError(error.description, hint: hint(about: error))
  case let error as OpenFailure: return CommandError(error.description, hint: error.hint)
  case let error as SQLiteError:
    return CommandError(
      "the database cannot be opened: \(error.description)",
      hint: error.code.primary == .full
        ? "free space on the database's disk, then start the service again"
        : "look for a full disk or a damaged file: regentd check")
  case let error as DatabaseFailure:
    return CommandError(
      "the database cannot be used: \(error.description)",
      hint: error.hint ?? "look for a full disk or a damaged file: regentd check")
  case let error as SchemaFailure: return CommandError(error.description, hint: error.hint)
  case let error as CopyFailure: return CommandError(error.message, hint: error.hint)
  case let error as PostgreSQLError:
    return CommandError(
      "the database on the server cannot be used: \(error.description)",
      hint: error.hint ?? "check that PostgreSQL runs and read its log, then run the command again")
  case let error as StoreError: return CommandError(error.description)
  case let error as KeyError: return CommandError(error.description)
  default: return nil
  }
}

private func hint(about error: StoreKeyFailure) -> String? {
  guard case .wrongMasterKey = error else { return nil }
  return
    "the service keeps a replaced key as master-key.until-TIME: use it with --master-key FILE, or put it back with "
    + "cp -p"
}
