// PairingStorePostgreSQL: the store on a PostgreSQL database that several services may share. It defines the schema,
// the threads, and what one node must know of another; the rows and verbs are those of PairingStoreRows, whose sources
// it compiles. The wire protocol is in PostgreSQL, the algorithms are in RegentCryptography.
//
// Only one transaction in the whole cluster writes at a time: each one locks the row of `cluster` first. SQLite gives
// the same guarantee, so the verbs are correct for the same reason. docs/decisions/0015-one-set-of-verbs.md has the
// measurements behind this choice.
//
// Start with Threads/WriterThread.swift. Words.swift maps the names of the shared verbs to PostgreSQL's.

public import PairingStore
public import PostgreSQL
public import RegentCryptography
public import RegentPairing

/// The store in a PostgreSQL database.
///
/// Every verb that writes is one request to the lane, the thread with this store's only writing connection. It runs
/// many requests in one transaction and answers after the COMMIT. Verbs that usually write nothing check on a reader
/// first.
public final class PostgreSQLStore: Store {
  let database: Database
  let vault: Vault
  let tamperLog = TamperLog()
  let thinning = AuditThinning()
  let known = VerifiedRowCache()
  let liveCodes = SharedLiveCodeBound()
  let wallClock: @Sendable () -> Instant

  /// Connects, creates the tables if there are none, and decrypts the data keys with the master key.
  ///
  /// Blocks the caller. If several services start at once, the first creates tables and data keys, and the others wait.
  ///
  /// - Throws: `StoreKeyFailure` for keys, `SchemaFailure` for tables, `PostgreSQLError` for the rest.
  public init(_ options: PostgreSQLStoreOptions) throws {
    var options = options
    options.connection.applicationName = "regent \(options.node)"
    let master = try DataKeys.masterKey(options.masterKey)
    let timelines = Timelines()
    timelines.look(at: options.connection)
    vault = try Schema.open(options.connection, patience: options.openingPatience, of: timelines) { context in
      // Without data keys the service has never written, so the audit log begins here. From now on a missing head
      // counts as tampering.
      let isNew = try !context.exists("SELECT 1 FROM data_key LIMIT 1")
      let vault = try DataKeys.open(in: context, with: master)
      if isNew { try SignedRows(vault, VerifiedRowCache()).insert(context, Tables.auditHead, AuditHead()) }
      // Deletes rows of stores that did not end properly. A store that was only idle inserts its row again.
      try context.run("DELETE FROM lane WHERE touched < now() - INTERVAL '30 days'")
      return vault
    }
    database = try Database(options, timelines)
    wallClock = options.wallClock
  }

  /// Completes the waiting requests and closes the connections.
  ///
  /// Blocks the caller, at most for the time of one statement.
  public func close() { database.close() }

  /// Fails all waiting requests at once: running writes with an unknown outcome, others as not done.
  public func giveUp() { database.giveUp() }

  /// Whether a store was made in the database before, even if this role may not see its tables.
  ///
  /// Blocks the caller.
  public static func isMade(on server: ConnectionSettings) throws(PostgreSQLError) -> Bool {
    let deadline = Deadline.after(.seconds(10))
    let connection = try Connection.open(server, by: deadline)
    defer { connection.close() }
    return try Rights.findTables(connection, by: deadline)
  }

  /// Whether a store in the database has data keys.
  ///
  /// Tables alone do not count.
  ///
  /// Blocks the caller, and waits for a process that fills the tables.
  public static func isBegun(on server: ConnectionSettings) throws -> Bool {
    let deadline = Deadline.after(.seconds(10))
    let connection = try Connection.open(server, by: deadline)
    defer { connection.close() }
    return try Rights.explained(connection, by: deadline) {
      try connection.begin(by: deadline)
      // The tables themselves may become visible only after a COMMIT that waits for the standby.
      try Schema.wait(connection, by: deadline)
      guard try Rights.findTables(connection, by: deadline) else { return false }
      return try !connection.run("SELECT 1 FROM data_key LIMIT 1", by: deadline).isEmpty
    }
  }

  /// Facts about the server and its settings.
  public func server() async throws(StoreError) -> ServerFacts {
    try await read { [wallClock] context, _ in try ServerFacts(context, wallClock) }
  }

  /// For how long the database has not answered the reader or the lane; nil when it answers.
  public var awayFor: Duration? { database.health.awayFor }

  /// Counters of the writes since the store was opened.
  public var numbers: WriteNumbers { database.health.numbers }

  /// Tests whether the server's disk has room for more than a row, and clears the "disk full" state if it has.
  ///
  /// Writing a small row would prove nothing, because it may fit into an existing page. This query sorts more than its
  /// memory allows, so that the server writes a temporary file, which needs room on the same disk and is deleted after
  /// the statement.
  ///
  /// - Throws: `diskFull`. Other errors are ignored, because they do not show that the disk is full.
  public func lookForRoom() async throws(StoreError) {
    do throws(StoreError) {
      try await read { context, _ in
        _ = try context.ask("SELECT set_config('work_mem', '64kB', true), set_config('temp_tablespaces', '', true)")
        _ = try context.ask("SELECT count(*) FROM generate_series(1, 40000)")
      }
    } catch .diskFull {
      throw .diskFull
    } catch {}
    database.health.isFull.note(false)
  }

  /// Throws `diskFull` while the disk is full.
  ///
  /// It queries the server only if an earlier write found the disk full.
  func requireRoom() async throws(StoreError) {
    if database.health.isFull.isSo { try await lookForRoom() }
  }

  /// Does nothing: the disk is the server's, and PostgreSQL does not tell clients how much of it is free.
  func requireMoreThanReserve() async throws(StoreError) {}

  /// The number of writes that wait for the running transaction.
  package var waitingWrites: Int { database.waitingWrites }

  /// Whether no notifications arrive, not even the node's own.
  ///
  /// The node then queries often instead.
  public var isDeaf: Bool { database.deafness.isSo }

  /// Whether a client floods the notification channel, so that this node ignores it.
  ///
  /// The node then queries often instead.
  public var isFlooded: Bool { database.flood.isSo }

  /// Whether the server's notification queue is full, so that this node cannot notify others.
  ///
  /// They then query often instead.
  public var isMute: Bool { database.announcer.muteness.isSo }

  /// Whether a COMMIT of any node has waited for the standby for more than a second.
  public var awaitsStandby: Bool { database.announcer.awaitsStandby.isSo }

  /// Encrypts the data keys with another master key.
  ///
  /// Nothing else is written.
  ///
  /// - Throws: `StoreKeyFailure`, `StoreError`.
  public func changeMasterKey(from old: Secret, to new: Secret) async throws {
    let (old, new) = (try DataKeys.masterKey(old), try DataKeys.masterKey(new))
    try await database.write { context in try DataKeys.reseal(in: context, from: old, to: new) }
  }

  /// Checks that a master key decrypts the stored data keys.
  ///
  /// Nothing is written.
  ///
  /// - Throws: `StoreKeyFailure` for another key.
  public func checkMasterKey(_ key: Secret) async throws {
    let master = try DataKeys.masterKey(key)
    try await database.read { context in _ = try DataKeys.look(in: context, with: master) }
  }
}

/// Options for opening the store.
public struct PostgreSQLStoreOptions: Sendable {
  public var connection: ConnectionSettings
  /// The key that encrypts the data keys: 32 bytes, which are not stored in the database.
  public var masterKey: Secret
  /// The name of this node.
  ///
  /// Two stores on one database cannot have the same name at the same time.
  public var node: String
  /// The program's version, for lists of nodes.
  public var version = ""
  /// Called when another node has taken this node's name because this one was silent for too long.
  public var onDisplaced: @Sendable (PostgreSQLError) -> Void = { _ in }
  /// How the store learns of other nodes' changes.
  public var wakeups = Wakeups.bell
  /// The time between two queries of the change log while notifications arrive.
  ///
  /// A lost notification costs no more than this.
  public var lookPause = Duration.milliseconds(250)
  /// Called when notifications stop or start to arrive.
  public var onHearing: @Sendable (_ isDeaf: Bool) -> Void = { _ in }
  /// Called when a flood of notifications begins or has ended.
  public var onFlood: @Sendable (_ isFlooded: Bool) -> Void = { _ in }
  /// Called when the server's notification queue becomes full or has room again.
  public var onMuteness: @Sendable (_ isMute: Bool) -> Void = { _ in }
  /// For how long the node does not listen after a flood.
  public var floodPause = Duration.seconds(60)
  /// Called when a COMMIT begins to wait for the standby for long, and when none does any more.
  public var onStandby: @Sendable (_ isAwaited: Bool) -> Void = { _ in }
  /// How many reads can run at the same time, each on a connection of its own.
  public var readers = 2
  /// The longest time for a verb.
  ///
  /// After it the caller gets an error.
  public var patience = Duration.seconds(8)
  /// The longest time for connecting, and for one statement.
  public var statementPatience = Duration.seconds(5)
  /// The longest time for opening the store, including the creation of tables.
  public var openingPatience = Duration.seconds(60)
  /// The clock for audit lines about changed rows, which any verb may write.
  public var wallClock: @Sendable () -> Instant

  public init(
    connection: ConnectionSettings, masterKey: Secret, node: String, wallClock: @escaping @Sendable () -> Instant
  ) {
    self.connection = connection
    self.masterKey = masterKey
    self.node = node
    self.wallClock = wallClock
  }
}
