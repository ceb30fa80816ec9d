// PairingStorePostgreSQL: the store contract on a PostgreSQL database that several services may share. Owns the schema,
// the threads, and what one node must know of another: the rows and verbs are those of PairingStoreRows, whose sources
// it compiles. Knows no wire: PostgreSQL has that, RegentCryptography the algorithms.
//
// One transaction writes at a time, in the whole cluster: each takes the row of `cluster` first. That is what SQLite
// has, so every verb is right for the same reason; docs/decisions/0015-one-set-of-verbs.md says what comes after it.
// Start with Threads/Lane.swift; Words.swift has what the shared verbs call PostgreSQL's things.

public import PairingStore
public import PostgreSQL
public import RegentCryptography
public import RegentPairing

/// The store in a PostgreSQL database.
///
/// Every verb that writes is one request to the lane, this store's one connection that writes: its part of a shared
/// transaction, answered after the COMMIT. Verbs that usually write nothing look on a reader first.
public final class PostgreSQLStore: Store {
  let database: Database
  let vault: Vault
  let tamperLog = TamperLog()
  let thinning = AuditThinning()
  let known = VerifiedRowCache()
  let liveCodes = SharedLiveCodeBound()
  let wallClock: @Sendable () -> Instant

  /// Connects, makes the tables if there are none, and opens the data keys with the master key.
  ///
  /// Blocks the caller. The first of several services that start at once makes tables and data keys, the others wait
  /// for it.
  ///
  /// - Throws: `StoreKeyFailure` for keys, `SchemaFailure` for tables, `PostgreSQLError` for the rest.
  public init(_ options: PostgreSQLStoreOptions) throws {
    var options = options
    options.connection.applicationName = "regent \(options.node)"
    let master = try DataKeys.masterKey(options.masterKey)
    let timelines = Timelines()
    timelines.look(at: options.connection)
    vault = try Schema.open(options.connection, patience: options.openingPatience, of: timelines) { context in
      // Without keys nothing can have been written: the log begins here, and from now on its head must be there.
      let isNew = try !context.exists("SELECT 1 FROM data_key LIMIT 1")
      let vault = try DataKeys.open(in: context, with: master)
      if isNew { try SignedRows(vault, VerifiedRowCache()).insert(context, Tables.auditHead, AuditHead()) }
      // Of stores that did not end well; one that is only idle makes its row anew.
      try context.run("DELETE FROM lane WHERE touched < now() - INTERVAL '30 days'")
      return vault
    }
    database = try Database(options, timelines)
    wallClock = options.wallClock
  }

  /// Finishes what waits and closes the connections.
  ///
  /// Blocks the caller, for as long as one answer may take.
  public func close() { database.close() }

  /// Tells whoever waits that nobody knows what comes of his change, or that nothing was written or read.
  public func giveUp() { database.giveUp() }

  /// Whether a store was made in the database before, also when this role may not see it yet.
  ///
  /// Blocks the caller.
  public static func isMade(on server: ConnectionSettings) throws(PostgreSQLError) -> Bool {
    let deadline = Deadline.after(.seconds(10))
    let connection = try Connection.open(server, by: deadline)
    defer { connection.close() }
    return try Rights.findTables(connection, by: deadline)
  }

  /// Whether a store was begun in the database: tables alone are none.
  ///
  /// Waits for whoever fills them. Blocks the caller.
  public static func isBegun(on server: ConnectionSettings) throws -> Bool {
    let deadline = Deadline.after(.seconds(10))
    let connection = try Connection.open(server, by: deadline)
    defer { connection.close() }
    return try Rights.explained(connection, by: deadline) {
      try connection.begin(by: deadline)
      // Tables, too, may be there only once a COMMIT is over that waits for the standby.
      try Schema.wait(connection, by: deadline)
      guard try Rights.findTables(connection, by: deadline) else { return false }
      return try !connection.run("SELECT 1 FROM data_key LIMIT 1", by: deadline).isEmpty
    }
  }

  /// What the server says of itself.
  public func server() async throws(StoreError) -> ServerFacts {
    try await read { [wallClock] context, _ in try ServerFacts(context, wallClock) }
  }

  /// How long the database has not answered, by the reader and the lane; `nil` when it does.
  public var awayFor: Duration? { database.health.awayFor }

  /// What was written since it was opened.
  public var numbers: WriteNumbers { database.health.numbers }

  /// Looks whether there is room on the server's disk for more than a row, and is used by whoever was told so before.
  ///
  /// A small row finds room in a page that is there, so writing one shows nothing. What does not fit a statement's
  /// memory goes into a file of the server's that needs room as rows do, beside them, and is gone with the statement.
  ///
  /// - Throws: that the disk is full; that it cannot be told is no reason to write nothing.
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

  /// Refuses while the disk, which was found full, has no room: whoever asks often does not have it searched each time.
  func requireRoom() async throws(StoreError) {
    if database.health.isFull.isSo { try await lookForRoom() }
  }

  /// The disk is the server's: how much of it is free is not told to clients.
  func requireMoreThanReserve() async throws(StoreError) {}

  /// How many writes wait for the one that is under way.
  package var waitingWrites: Int { database.waitingWrites }

  /// Whether it does not hear the bell of other nodes, not even its own; it looks often then.
  public var isDeaf: Bool { database.deafness.isSo }

  /// Whether somebody rings the bell so often that it is not listened to; it looks often then.
  public var isFlooded: Bool { database.flood.isSo }

  /// Whether the server has no room for the bell that it rings; others look often then.
  public var isMute: Bool { database.announcer.muteness.isSo }

  /// Whether a COMMIT, of whichever node, has waited for the standby for more than a second.
  public var awaitsStandby: Bool { database.announcer.awaitsStandby.isSo }

  /// Seals the data keys with another master key; nothing else is written.
  ///
  /// - Throws: `StoreKeyFailure`, `StoreError`.
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
public struct PostgreSQLStoreOptions: Sendable {
  /// Where the database is.
  public var connection: ConnectionSettings
  /// 32 bytes that are not in the database.
  public var masterKey: Secret
  /// What others call this service: no two stores on one database have a name at the same time.
  public var node: String
  /// The program's version, for others to see.
  public var version = ""
  /// Called when another one has taken the name of this one, which was away for too long.
  public var onDisplaced: @Sendable (PostgreSQLError) -> Void = { _ in }
  /// How it hears what other stores write.
  public var wakeups = Wakeups.bell
  /// Between two looks for what others write, when the bell is heard: a bell that is lost costs no more.
  public var lookPause = Duration.milliseconds(250)
  /// Called when the bell is not heard any more, and when it is again.
  public var onHearing: @Sendable (_ isDeaf: Bool) -> Void = { _ in }
  /// Called when somebody floods the bell, and when it is heard again.
  public var onFlood: @Sendable (_ isFlooded: Bool) -> Void = { _ in }
  /// Called when the server has no room for a bell, and when it has again.
  public var onMuteness: @Sendable (_ isMute: Bool) -> Void = { _ in }
  /// For how long the bell is not listened to after a flood.
  public var floodPause = Duration.seconds(60)
  /// Called when a COMMIT waits for the standby, and when none does any more.
  public var onStandby: @Sendable (_ isAwaited: Bool) -> Void = { _ in }
  /// How many reads run at the same time, each over a connection of its own.
  public var readers = 2
  /// How long a verb may take; whoever has waited so long is told that the store is away.
  public var patience = Duration.seconds(8)
  /// How long connecting and one statement may take.
  public var statementPatience = Duration.seconds(5)
  /// How long the opening may take, with the tables that the first one makes.
  public var openingPatience = Duration.seconds(60)
  /// The time for audit lines about changed rows, which any verb may find.
  public var wallClock: @Sendable () -> Instant

  /// Options for a database and the key to it.
  public init(
    connection: ConnectionSettings, masterKey: Secret, node: String, wallClock: @escaping @Sendable () -> Instant
  ) {
    self.connection = connection
    self.masterKey = masterKey
    self.node = node
    self.wallClock = wallClock
  }
}
