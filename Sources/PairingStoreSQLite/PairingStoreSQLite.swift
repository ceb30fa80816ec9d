// PairingStoreSQLite: the store on one SQLite file. It defines the schema, its migrations and copies. The rows and
// store operations are those of PairingStoreRows, whose sources it compiles. It contains no rule of pairing, because
// RegentPairing and PairingStore decide inside its transactions, and no file format, thread or fsync, which are in
// SQLite. The algorithms are in RegentCryptography.
//
// Start with PairingStoreRows. Words.swift maps its names to those of SQLite.

public import RegentCryptography
public import RegentPairing
public import PairingStore
public import SQLite

/// The store in one SQLite file.
///
/// Every store operation that writes is one request to the writer thread, which runs many requests in one transaction
/// and answers them after the commit. Operations that usually write nothing (repeated reads of a sign-in, permits,
/// sessions) first check on a reader thread whether they must write.
public final class SQLiteStore: Store {
  let database: Database
  let vault: Vault
  let tamperLog = TamperLog()
  let thinning = AuditThinning()
  let known = VerifiedRowCache()
  let liveCodes = LiveCodeBound()
  let reserve: DiskReserve
  let wallClock: @Sendable () -> Instant

  /// Opens the file, migrates it to this program's schema and decrypts the data keys with the master key.
  ///
  /// Blocks the caller. The first opening generates the data keys.
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

  /// Completes the waiting requests and closes the file.
  ///
  /// Blocks the caller.
  public func close() { database.close() }

  /// A counter that increases with commits that may end a client, a grant or a sign-in.
  ///
  /// It is reliable because the lock file keeps other processes from writing.
  public var standingMark: UInt64? { database.mark }

  /// Counters of the database, for metrics.
  public var statistics: DatabaseStatistics { database.statistics }

  /// Encrypts the data keys with another master key.
  ///
  /// It writes nothing else.
  ///
  /// - Throws: `StoreKeyFailure`, `DatabaseFailure`.
  public func changeMasterKey(from old: Secret, to new: Secret) async throws {
    let (old, new) = (try DataKeys.masterKey(old), try DataKeys.masterKey(new))
    try await database.write { context in try DataKeys.reseal(in: context, from: old, to: new) }
  }

  /// Checks that a master key decrypts the stored data keys.
  ///
  /// It writes nothing.
  ///
  /// - Throws: `StoreKeyFailure` for another key.
  public func checkMasterKey(_ key: Secret) async throws {
    let master = try DataKeys.masterKey(key)
    try await database.read { context in _ = try DataKeys.look(in: context, with: master) }
  }
}

/// Options for opening the store.
public struct SQLiteStoreOptions: Sendable {
  /// The path of the database file.
  ///
  /// Its folder is created if it is missing.
  public var path: String
  /// The key that encrypts the data keys: 32 bytes, which are not stored in the database.
  public var masterKey: Secret
  /// How many reads can run at the same time.
  public var readers = 2
  /// The clock for the times of audit lines about rows that fail verification.
  ///
  /// Any store operation may find such a row.
  public var wallClock: @Sendable () -> Instant
  /// Called once when the writer has stopped permanently.
  ///
  /// The program must exit and restart.
  public var onFailStop: @Sendable (SQLiteError) -> Void = { _ in }
  /// Called during the migration of a database of an earlier version, to show progress to operators who wait for the
  /// start.
  public var onMigration: @Sendable (MigrationProgress) -> Void = { _ in }
  /// The name of a registered SQLite VFS.
  ///
  /// Nil, the default VFS, is what a service uses; tests set others.
  package var fileLayer: String?

  public init(path: String, masterKey: Secret, wallClock: @escaping @Sendable () -> Instant) {
    self.path = path
    self.masterKey = masterKey
    self.wallClock = wallClock
  }
}
