import PostgreSQL
import RegentSQL

/// The database schema.
///
/// The first service that starts creates the tables in one transaction.
enum Schema {
  /// The version of the tables that this program creates and uses.
  ///
  /// Each migration increases it by one.
  static let version = Int64(1 + migrations.count)
  /// Makes sure that only one of several starting services creates the tables.
  private static let lock = AdvisoryLock.tables

  /// Connects, creates the tables if the database has none, checks their version, and runs `body` in a write
  /// transaction.
  static func open<Value>(
    _ settings: ConnectionSettings, patience: Duration, of timelines: Timelines,
    _ body: (WriteContext) throws -> Value
  ) throws -> Value {
    let deadline = Deadline.after(patience)
    let connection = try Connection.open(settings, by: deadline) { connection throws(PostgreSQLError) in
      _ = try timelines.check(connection, by: deadline)
    }
    defer { connection.close() }
    return try Rights.explained(connection, by: deadline) {
      try connection.begin(by: deadline)
      try makeIfMissing(connection, by: deadline)
      try done(connection.commit(by: deadline))
      // `body` runs in an ordinary write transaction. It locks the cluster's row and shows that this role may write.
      let context = WriteContext(try Transaction(connection, isShared: false, by: deadline))
      let value = try body(context)
      try done(context.transaction.commit("SELECT 1"))
      return value
    }
  }

  /// Creates the tables if the database has none, migrates them and checks their version, in the open transaction.
  static func makeIfMissing(_ connection: Connection, by deadline: Deadline) throws {
    try wait(connection, by: deadline)
    if try !isThere(connection, by: deadline) {
      for statement in statements { try connection.run(statement, by: deadline) }
      try connection.run(
        "INSERT INTO cluster (id, state, schema, live_codes) VALUES (1, 'open', \(version), 0)", by: deadline)
    }
    try migrate(connection, by: deadline)
    try check(connection, by: deadline)
  }

  /// Waits for another process that creates or fills the tables, and keeps other processes from doing so until the
  /// transaction ends.
  ///
  /// It needs no more privileges than reading and writing the tables.
  ///
  /// It ignores the lock of a role that may not write the tables. If the tables exist, the lock of the row of `cluster`
  /// keeps other processes away as well. If they do not exist, one of two processes that create them fails.
  static func wait(_ connection: Connection, by deadline: Deadline) throws(PostgreSQLError) {
    var others: [AdvisoryLock.Holder] = []
    do throws(PostgreSQLError) {
      let question: SQL = "SELECT pg_try_advisory_xact_lock(\(part: lock.key))"
      while try connection.run(question, by: deadline).first?.integer(0) != 1 {
        others = try lock.holders(connection, by: deadline)
        if !others.isEmpty, !others.contains(where: \.counts) {
          guard try isThere(connection, by: deadline) else { return }
          try connection.run("SELECT 1 FROM cluster WHERE id = 1 FOR UPDATE", by: deadline)
          return
        }
        CopyConnection.pause()
      }
    } catch {
      guard error.kind == .deadline, let other = others.first(where: \.counts) else { throw error }
      throw PostgreSQLError(
        .refused, "\(other.words) still makes or fills the tables",
        hint: "wait for it, or see what it does: SELECT * FROM pg_stat_activity WHERE pid = \(other.process)")
    }
  }

  private static func done(_ outcome: CommitOutcome) throws(PostgreSQLError) {
    switch outcome {
    case .committed: return
    // If the outcome of this transaction is unknown, opening the store fails. The next attempt finds out whether the
    // transaction succeeded.
    case .notCommitted(let error), .unknown(let error): throw error
    }
  }

  /// Whether the store's tables exist in the first schema of the search path.
  static func isThere(_ connection: Connection, by deadline: Deadline) throws(PostgreSQLError) -> Bool {
    let rows = try connection.run("SELECT to_regclass('cluster') IS NOT NULL", by: deadline)
    return try rows.first?.integer(0) == 1
  }

  /// Runs the migrations that this database lacks.
  ///
  /// They only add to the tables, so that nodes can be upgraded one by one.
  private static func migrate(_ connection: Connection, by deadline: Deadline) throws(PostgreSQLError) {
    let rows = try connection.run("SELECT schema FROM cluster WHERE id = 1 FOR UPDATE", by: deadline)
    guard let found = try rows.first?.integer(0), found >= 1, found < version else { return }
    for statement in migrations.dropFirst(Int(found) - 1).joined() { try connection.run(statement, by: deadline) }
    try connection.run("UPDATE cluster SET schema = \(version) WHERE id = 1", by: deadline)
  }

  /// Throws unless the database is open to services and its tables have this program's version or the next one.
  ///
  /// Each release only adds to the tables, so that nodes can be upgraded one by one.
  static func check(state: String, version: Int64) throws(SchemaFailure) {
    guard (self.version...self.version + 1).contains(version) else { throw .otherVersion(found: version) }
    guard state == "open" else { throw .closed(state: state) }
  }

  /// Throws if the database contains a trigger or a rule.
  ///
  /// A role that may alter the tables could plant one. It would run code whenever the service writes a row, and the row
  /// signatures would not show it. The SQLite store checks its file for the same reason.
  ///
  /// Names are cast to text wherever a function or operator takes text: PostgreSQL would otherwise prefer a function of
  /// the same name for `name` that another role has made in the schema.
  static func check(_ connection: Connection, by deadline: Deadline) throws {
    let rows = try connection.run(
      """
      SELECT 'trigger “' || CAST(t.tgname AS TEXT) || '” on the table “' || CAST(c.relname AS TEXT) || '”'
      FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
      WHERE NOT t.tgisinternal AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'cluster'::regclass)
      UNION ALL
      SELECT 'rule “' || CAST(r.rulename AS TEXT) || '” on the table “' || CAST(c.relname AS TEXT) || '”'
      FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
      WHERE c.relkind = 'r' AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'cluster'::regclass)
      LIMIT 1
      """, by: deadline)
    if let stranger = rows.first { throw SchemaFailure.foreign(try stranger.text(0)) }
    let cluster = try connection.run("SELECT state, schema FROM cluster WHERE id = 1", by: deadline)
    guard let row = cluster.first else { throw SchemaFailure.damaged("the row of the table “cluster” is missing") }
    try check(state: row.text(0), version: row.integer(1))
  }
}

/// Why the schema of a database cannot be used by this program.
public enum SchemaFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// The tables have another version than this program can use.
  case otherVersion(found: Int64)
  /// The database was closed to all services, because its rows were moved.
  case closed(state: String)
  /// The database contains a trigger or a rule that is not the program's.
  case foreign(String)
  /// A table or row that every version of the schema has is missing.
  case damaged(String)

  /// What the operator must do when the database was closed because its rows were moved.
  public var hint: String? {
    guard case .closed(let state) = self, state.hasPrefix(Self.moved) else { return nil }
    return
      "start the service there, without --database postgresql://…; to move it to a server again, run regentd move --to "
      + "with an empty database (createdb); this one stays until you drop it"
  }

  /// The prefix of the state of a database whose rows were moved.
  static let moved = "moved to "

  public var description: String {
    switch self {
    case .otherVersion(let found):
      "the database has tables of version \(found), and this program uses version \(Schema.version): "
        + "install the regentd that created the tables"
    case .closed(let state):

      "the database is closed to all services (it is \(state))"
        + (state.hasPrefix(Self.moved) ? "" : ": wait until that command ends")
    case .foreign(let what):
      "the database has a \(what) that Regent did not create and that runs when a row is written: drop it"
    case .damaged(let what): "the database is damaged: \(what)"
    }
  }
}
