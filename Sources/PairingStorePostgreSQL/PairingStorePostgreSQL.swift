// PairingStorePostgreSQL: the store on a PostgreSQL database that several services may share. It defines the schema,
// the threads, and what one node must know of another. The rows and store operations are those of PairingStoreRows,
// whose sources it compiles. The wire protocol is in PostgreSQL, the algorithms are in RegentCryptography.
//
// Only one transaction in the whole cluster writes at a time: each one locks the row of `cluster` first. SQLite gives
// the same guarantee, so the store operations are correct for the same reason. docs/decisions/0015-one-set-of-verbs.md
// has the measurements behind this choice.
//
// Start with Threads/WriterThread.swift. Dialect.swift maps the names of the shared store operations to PostgreSQL's.

public import PairingStore
public import PostgreSQL
public import RegentCryptography
public import RegentPairing
internal import RegentPlatform

/// The store in a PostgreSQL database.
///
/// Every store operation that writes is one request to the writer thread, which has this store's only writing
/// connection (its lane). The thread runs many requests in one transaction and answers them after the COMMIT.
/// Operations that usually write nothing first check on a reader thread whether they must write.
public final class PostgreSQLStore: Store {
  let database: Database
  let vault: Vault
  let tamperLog = TamperLog()
  let thinning = AuditThinning()
  let known = VerifiedRowCache()
  let liveCodes = SharedLiveCodeBound()
  let wallClock: @Sendable () -> Instant

  /// Connects to the database, creates the tables if it has none, and decrypts the data keys with the master key.
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
      // Without data keys no service has ever written to the database, so the audit log begins here. From now on a
      // missing head counts as tampering.
      let isNew = try !context.exists("SELECT 1 FROM data_key LIMIT 1")
      let vault = try DataKeys.open(in: context, with: master)
      if isNew { try SignedRows(vault, VerifiedRowCache()).insert(context, Tables.auditHead, AuditHead()) }
      // Deletes the rows of stores that ended without deleting their own row. A store that was only idle inserts its
      // row again.
      try context.run("DELETE FROM lane WHERE touched < now() - INTERVAL '30 days'")
      return vault
    }
    database = try Database(options, timelines)
    wallClock = options.wallClock
  }

  /// Completes the waiting requests and closes the connections.
  ///
  /// Blocks the caller, at most for the time of one SQL statement.
  public func close() { database.close() }

  /// Fails all waiting requests at once: writes that are running fail with an unknown outcome, others as not done.
  public func giveUp() { database.giveUp() }

  /// Whether the tables of a store exist in the database, even if this role may not see them.
  ///
  /// Blocks the caller.
  public static func isMade(on server: ConnectionSettings) throws(PostgreSQLError) -> Bool {
    let deadline = Deadline.after(.seconds(10))
    let connection = try Connection.open(server, by: deadline)
    defer { connection.close() }
    return try Rights.findTables(connection, by: deadline)
  }

  /// Whether a store in the database has data keys, which its first start generates.
  ///
  /// Tables alone do not count. Blocks the caller, and waits for a process that fills the tables.
  public static func isBegun(on server: ConnectionSettings) throws -> Bool {
    let deadline = Deadline.after(.seconds(10))
    let connection = try Connection.open(server, by: deadline)
    defer { connection.close() }
    return try Rights.explained(connection, by: deadline) {
      try connection.begin(by: deadline)
      // Another process may have created the tables in a transaction whose COMMIT still waits for the standby. Wait for
      // it.
      try Schema.wait(connection, by: deadline)
      guard try Rights.findTables(connection, by: deadline) else { return false }
      return try !connection.run("SELECT 1 FROM data_key LIMIT 1", by: deadline).isEmpty
    }
  }

  /// Facts about the server and its settings.
  public func server() async throws(StoreError) -> ServerFacts {
    try await read { [wallClock] context, _ in try ServerFacts(context, wallClock) }
  }

  /// For how long the database has not answered the readers or the writer; nil when it answers.
  public var awayFor: Duration? { database.health.awayFor }

  /// Counters of the writes since the store was opened.
  public var numbers: WriteNumbers { database.health.numbers }

  /// Tests whether the server's disk has room for more than a row, and clears the "disk full" state if it has.
  ///
  /// Writing a small row would prove nothing, because it may fit into an existing page. This query sorts more than its
  /// memory allows. The server therefore writes a temporary file, which needs room on the same disk and is deleted
  /// after the query.
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

  /// Whether only the reserve of the disk is free: false, because PostgreSQL does not tell clients how much of the
  /// server's disk is free.
  var isOnReserve: Bool { get async { false } }

  /// Does nothing; see ``isOnReserve``.
  func requireMoreThanReserve() async throws(StoreError) {}

  /// The number of writes that wait for the running transaction.
  package var waitingWrites: Int { database.waitingWrites }

  /// Whether this node receives no notifications, not even its own.
  ///
  /// It then queries the change log more often.
  public var isDeaf: Bool { database.deafness.isSo }

  /// Whether a client floods the notification channel, so that this node ignores notifications.
  ///
  /// It then queries the change log more often.
  public var isFlooded: Bool { database.flood.isSo }

  /// Whether the server's notification queue is full, so that this node cannot notify others.
  ///
  /// The other nodes then query the change log more often.
  public var isMute: Bool { database.announcer.muteness.isSo }

  /// Whether a COMMIT of any node has waited for the standby for more than a second.
  public var awaitsStandby: Bool { database.announcer.awaitsStandby.isSo }

  /// Makes a write that changes no row, and measures it.
  ///
  /// - Returns: how long the write took; nil as soon as it is known that COMMITs wait for the standby. The write itself
  ///   then goes on until its time limit.
  public func durationOfWrite() async throws(StoreError) -> Duration? {
    guard !awaitsStandby else { return nil }
    let (outcomes, outcome) = AsyncStream<Result<Duration, StoreError>?>.makeStream(
      bufferingPolicy: .bufferingOldest(1))
    Task {
      let began = Clocks.monotonicNanoseconds()
      do throws(StoreError) {
        try await tryWriting()
        outcome.yield(.success(.nanoseconds(Int64(Clocks.monotonicNanoseconds() - began))))
      } catch {
        outcome.yield(.failure(error))
      }
    }
    let standby = database.announcer.awaitsStandby
    let number = standby.whenSo { outcome.yield(nil) }
    defer { standby.forget(number) }
    for await first in outcomes { return try first?.get() }
    return nil
  }

  /// Encrypts the data keys with another master key.
  ///
  /// It writes nothing else.
  ///
  /// - Throws: `StoreKeyFailure`, `StoreError`.
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
public struct PostgreSQLStoreOptions: Sendable {
  public var connection: ConnectionSettings
  /// The key that encrypts the data keys: 32 bytes, which are not stored in the database.
  public var masterKey: Secret
  /// The name of this node.
  ///
  /// Two stores on one database cannot have the same name at the same time.
  public var node: String
  /// The program's version, which lists of nodes show.
  public var version = ""
  /// Called when another node has taken this node's name because this node had sent no heartbeat for too long.
  public var onDisplaced: @Sendable (PostgreSQLError) -> Void = { _ in }
  /// How the store learns of other nodes' changes.
  public var wakeups = Wakeups.bell
  /// The time between two queries of the change log while notifications arrive.
  ///
  /// If a notification is lost, its change is read at most this much later.
  public var lookPause = Duration.milliseconds(250)
  /// Called when this node stops or starts to receive notifications.
  public var onHearing: @Sendable (_ isDeaf: Bool) -> Void = { _ in }
  /// Called when a flood of notifications begins or has ended.
  public var onFlood: @Sendable (_ isFlooded: Bool) -> Void = { _ in }
  /// Called when the server's notification queue becomes full or has room again.
  public var onMuteness: @Sendable (_ isMute: Bool) -> Void = { _ in }
  /// For how long the node does not listen for notifications after a flood of them.
  public var floodPause = Duration.seconds(60)
  /// Called when a COMMIT has waited long for the standby, and again when no COMMIT waits for it any more.
  public var onStandby: @Sendable (_ isAwaited: Bool) -> Void = { _ in }
  /// How many reads can run at the same time, each on a connection of its own.
  public var readers = 2
  /// The longest time that a store operation may take.
  ///
  /// After it the caller gets an error.
  public var patience = Duration.seconds(8)
  /// The longest time for connecting, and for one SQL statement.
  public var statementPatience = Duration.seconds(5)
  /// The longest time for opening the store, including the creation of tables.
  public var openingPatience = Duration.seconds(60)
  /// The clock for the times of audit lines about rows that fail verification.
  ///
  /// Any store operation may find such a row.
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
