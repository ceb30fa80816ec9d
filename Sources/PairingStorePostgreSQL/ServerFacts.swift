import PostgreSQL
import RegentPairing

/// What a server says of itself, for who looks after it.
public struct ServerFacts: Hashable, Sendable {
  /// A server that follows it.
  public struct Standby: Hashable, Sendable {
    public let name: String
    /// What it does: `streaming` when it has what the primary has; `nil` when this role may not see it.
    public let state: String?
    /// Whether a COMMIT waits for it: `sync`, `quorum`, `potential`, `async`.
    public let sync: String?

    public init(name: String, state: String?, sync: String?) {
      (self.name, self.state, self.sync) = (name, state, sync)
    }

    public var streams: Bool { state == "streaming" }
    /// Whether a COMMIT waits for it, or for as many of its kind as are wanted.
    public var isSynchronous: Bool { sync == "sync" || sync == "quorum" }
  }

  /// The version, as people write it.
  public var version = ""
  /// Whether what is acknowledged is on its disk.
  public var isDurable = true
  /// Whether it is set to wait for another server with each COMMIT.
  public var wantsSynchronousStandby = true
  /// Who follows it; a role without `pg_read_all_stats` sees that somebody does, and not how.
  public var standbys: [Standby] = []
  /// How much later it is by this machine's clock than by the server's; less than nothing when it is earlier.
  public var clockAhead = Duration.zero
  /// For how long the oldest transaction of a service has been open; every other one waits for one that writes.
  public var oldestTransaction = Duration.zero
  /// Whether somebody stands in between who may give each transaction another connection.
  public var isPooled = false

  /// Who holds a lock of services and copies, and may not write the tables: `the role “x” (process 1)`.
  public var strangers: [String] = []
  /// What ends the sessions of these.
  public var ending: String?

  /// What takes from everybody the right to connect to the database, and leaves it to this role; `nil` when nobody else
  /// was given it by that.
  public var revocation: String?

  /// A server of which nothing is to be said.
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
      CASE WHEN has_database_privilege('public', current_database(), 'CONNECT') THEN
        format('GRANT CONNECT ON DATABASE %I TO %I; REVOKE CONNECT ON DATABASE %1$I FROM PUBLIC',
          current_database(), current_user) END
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
    // A pooler names itself, and not the server's process.
    isPooled = try row.integer(4) != Int64(context.backend)
    let holders = try [TablelessLock.use, .tables].flatMap { lock in
      try TablelessLock.holders(context.ask(lock.others())).filter { !$0.counts }
    }
    strangers = holders.map(\.words)
    ending = holders.isEmpty ? nil : Set(holders.map(\.ending)).sorted().joined(separator: "; ")
    // Whoever makes a copy of the server is no standby.
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

/// How much later it is here than by a clock that was read between two looks at our own: nothing when it may be the
/// same, however long the answer took.
func clockAhead(of there: Instant, asked: Instant, answered: Instant) -> Duration {
  if there < asked { return asked.since(there) }
  return there > answered ? answered.since(there) : .zero
}
