// PairingStoreSQLite: the store contract on one SQLite file. Owns the schema, its migrations and copies; the rows and
// verbs are those of PairingStoreRows, whose sources it compiles. Knows no rule of pairing: RegentPairing and
// PairingStore decide inside its transactions; and no file format, thread or fsync: SQLite has those,
// RegentCryptography the algorithms.
//
// Start with PairingStoreRows; Words.swift has what it calls SQLite's things.

public import RegentCryptography
public import RegentPairing
public import PairingStore
public import SQLite

/// The store in one SQLite file.
///
/// Every verb that writes is one request to the writer: its part of a shared transaction, answered after the commit.
/// Verbs that usually write nothing (later pick-ups, permits, sessions) look on a reader first.
public final class SQLiteStore: Store {
  let database: Database
  let vault: Vault
  let tamperLog = TamperLog()
  let thinning = AuditThinning()
  let known = VerifiedRowCache()
  let liveCodes = LiveCodeBound()
  let reserve: DiskReserve
  let wallClock: @Sendable () -> Instant

  /// Opens the file, brings it to this program's schema and opens its data keys with the master key.
  ///
  /// Blocks the caller. The first opening makes the data keys.
  ///
  /// - Throws: `StoreKeyFailure` for keys; `FileError`, `OpenFailure`, `SQLiteError` for the file.
  public init(_ options: SQLiteStoreOptions) throws {
    let master = try DataKeys.masterKey(options.masterKey)
    var file = DatabaseOptions(
      path: options.path, applicationID: Schema.applicationID,
      migrations: Schema.migrations(MigrationKeys(master)))
    file.schema = try Schema.made.get()
    file.readers = options.readers
    file.onFailStop = options.onFailStop
    file.onMigration = options.onMigration
    file.moves = Schema.mayEndStanding
    file.fileLayer = options.fileLayer
    let database = try Database(file)
    do {
      vault = try database.writeBlocking { context in try DataKeys.open(in: context, with: master) }
    } catch {
      database.close(keepingLog: true)
      throw error
    }
    self.database = database
    reserve = DiskReserve(options.path)
    wallClock = options.wallClock
  }

  /// Finishes what waits and closes the file.
  ///
  /// Blocks the caller.
  public func close() { database.close() }

  /// Moves on with commits that may end something; the lock file keeps everybody else from writing.
  public var standingMark: UInt64? { database.mark }

  /// What the database has done, for metrics.
  public var statistics: DatabaseStatistics { database.statistics }

  /// Seals the data keys with another master key; nothing else is written.
  ///
  /// - Throws: `StoreKeyFailure`, `DatabaseFailure`.
  public func changeMasterKey(from old: Secret, to new: Secret) async throws {
    let (old, new) = (try DataKeys.masterKey(old), try DataKeys.masterKey(new))
    try await database.write { context in try DataKeys.reseal(in: context, from: old, to: new) }
  }

  /// Sees whether a master key opens the data keys that are stored; nothing is written.
  ///
  /// - Throws: `StoreKeyFailure` for another key.
  public func checkMasterKey(_ key: Secret) async throws {
    let master = try DataKeys.masterKey(key)
    try await database.read { context in _ = try DataKeys.look(in: context, with: master) }
  }
}

/// How the store is opened.
public struct SQLiteStoreOptions: Sendable {
  /// The database file; its folder is made when missing.
  public var path: String
  /// 32 bytes that are not in the database.
  public var masterKey: Secret
  /// How many reads run at the same time.
  public var readers = 2
  /// The time for audit lines about changed rows, which any verb may find.
  public var wallClock: @Sendable () -> Instant
  /// Called once when the writer stopped for good: the program ends itself and starts again.
  public var onFailStop: @Sendable (SQLiteError) -> Void = { _ in }
  /// Called while a database of an earlier version is brought to this one, for whoever waits for the service to start.
  public var onMigration: @Sendable (MigrationProgress) -> Void = { _ in }
  /// The name of the registered file layer (VFS) below SQLite; `nil` is SQLite's own, and a service's only one.
  package var fileLayer: String?

  /// Options for a file and the key to it.
  public init(path: String, masterKey: Secret, wallClock: @escaping @Sendable () -> Instant) {
    self.path = path
    self.masterKey = masterKey
    self.wallClock = wallClock
  }
}
