import PostgreSQL
import RegentPairing

/// Facts about a PostgreSQL server and its settings, for operators.
public struct ServerFacts: Hashable, Sendable {
  /// A standby of the PostgreSQL server.
  public struct Standby: Hashable, Sendable {
    public let name: String
    /// The standby's state: `streaming` when it is up to date; nil when this role may not see it.
    public let state: String?
    /// Whether a COMMIT waits for the standby: `sync`, `quorum`, `potential` or `async`.
    public let sync: String?

    public init(name: String, state: String?, sync: String?) {
      (self.name, self.state, self.sync) = (name, state, sync)
    }

    public var streams: Bool { state == "streaming" }
    /// Whether a COMMIT waits for this standby, alone or as one of a quorum.
    public var isSynchronous: Bool { sync == "sync" || sync == "quorum" }
  }

  /// The PostgreSQL server's version number as text.
  public var version = ""
  /// Whether the server has changes on its disk before it confirms them (`fsync`, `full_page_writes`,
  /// `synchronous_commit`).
  public var isDurable = true
  /// Whether the server is set to wait for a standby with each COMMIT.
  public var wantsSynchronousStandby = true
  /// The server's standbys.
  ///
  /// A role without `pg_read_all_stats` sees only that they exist.
  public var standbys: [Standby] = []
  /// How far this machine's clock is ahead of the PostgreSQL server's; negative when it is behind.
  public var clockAhead = Duration.zero
  /// The age of the oldest open transaction of a service.
  ///
  /// If that transaction writes, every other write waits for it.
  public var oldestTransaction = Duration.zero
  /// Whether the connection goes through a pooler, which may give each transaction another server connection.
  public var isPooled = false

  /// The roles that may not write the tables but hold an advisory lock of services and copies, such as `the role “x”
  /// (process 1)`.
  public var strangers: [String] = []
  /// The SQL that ends the sessions of the roles in `strangers`.
  public var ending: String?

  /// The SQL that takes the right to connect from all roles but this one; nil when PUBLIC does not have that right.
  public var revocation: String?

  /// The SQL that takes the right to create functions beside the tables from all roles; nil when PUBLIC lacks it.
  public var schemaRevocation: String?

  /// Makes facts that give no reason for a warning.
  public init() {}

  init(_ context: ReadContext, _ wallClock: () -> Instant) throws {
    let asked = wallClock()
    let rows = try context.ask(
      """
      SELECT current_setting('server_version'), current_setting('fsync') = 'on'
      AND current_setting('full_page_writes') = 'on' AND current_setting('synchronous_commit') <> 'off',
      current_setting('synchronous_standby_names') <> ''
      AND current_setting('synchronous_commit') IN ('on', 'remote_write', 'remote_apply'),
      CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT), pg_backend_pid(),
      (SELECT CAST(coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0) * 1000 AS BIGINT)
        FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user
        AND pid <> pg_backend_pid() AND application_name <> 'regent copy'),
      CASE WHEN has_database_privilege('public', CAST(current_database() AS TEXT), 'CONNECT') THEN
        format('GRANT CONNECT ON DATABASE %I TO %I; REVOKE CONNECT ON DATABASE %1$I FROM PUBLIC',
          current_database(), current_user) END,
      CASE WHEN has_schema_privilege('public', CAST(current_schema() AS TEXT), 'CREATE') THEN
        format('REVOKE CREATE ON SCHEMA %I FROM PUBLIC', current_schema()) END
      """)
    let answered = wallClock()
    guard let row = rows.first else { throw PostgreSQLError(.value, "the server says nothing of itself") }
    version = try row.text(0)
    isDurable = try row.integer(1) == 1
    wantsSynchronousStandby = try row.integer(2) == 1
    clockAhead = PairingStorePostgreSQL.clockAhead(
      of: Instant(milliseconds: try row.integer(3)), asked: asked, answered: answered)
    oldestTransaction = .milliseconds(try row.integer(5))
    revocation = try row.isNull(6) ? nil : row.text(6)
    schemaRevocation = try row.isNull(7) ? nil : row.text(7)
    // A pooler reports a process number of its own when the connection is opened (`backend`). So this number differs
    // from the result of pg_backend_pid().
    isPooled = try row.integer(4) != Int64(context.backend)
    let holders = try [AdvisoryLock.use, .tables].flatMap { lock in
      try AdvisoryLock.holders(context.ask(lock.others())).filter { !$0.counts }
    }
    strangers = holders.map(\.words)
    ending = holders.isEmpty ? nil : Set(holders.map(\.ending)).sorted().joined(separator: "; ")
    // A base backup also appears in this view, but is no standby.
    standbys = try context.ask(
      """
      SELECT coalesce(application_name, ''), state, sync_state FROM pg_stat_replication
      WHERE state IS NULL OR state <> 'backup' ORDER BY 1
      """
    ).map { row in
      Standby(
        name: try row.text(0), state: try row.isNull(1) ? nil : row.text(1),
        sync: try row.isNull(2) ? nil : row.text(2))
    }
  }
}

/// How far this machine's clock is ahead of another one.
///
/// The other clock was read between the times `asked` and `answered`.
///
/// Zero when the difference may come from the duration of the request.
func clockAhead(of there: Instant, asked: Instant, answered: Instant) -> Duration {
  if there < asked { return asked.since(there) }
  return there > answered ? answered.since(there) : .zero
}
