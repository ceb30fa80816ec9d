import PostgreSQL
public import RegentPairing

/// What a server says of itself, for who looks after it.
public struct ServerFacts: Hashable, Sendable {
  /// The version, as people write it.
  public let version: String
  /// Whether what is acknowledged is on its disk.
  public let isDurable: Bool
  /// Whether another server has it as well.
  public let hasSynchronousStandby: Bool
  /// Its wall clock.
  public let clock: Instant
  /// For how long the oldest transaction of a service has been open; every other one waits for one that writes.
  public let oldestTransaction: Duration
  /// Whether somebody stands in between who may give each transaction another connection.
  public let isPooled: Bool

  init(_ context: ReadContext) throws {
    let rows = try context.ask(
      """
      SELECT current_setting('server_version'), current_setting('fsync') = 'on'
      AND current_setting('full_page_writes') = 'on' AND current_setting('synchronous_commit') <> 'off',
      current_setting('synchronous_standby_names') <> ''
      AND current_setting('synchronous_commit') IN ('on', 'remote_write', 'remote_apply'),
      CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT), pg_backend_pid(),
      (SELECT CAST(coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0) * 1000 AS BIGINT)
        FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user
        AND pid <> pg_backend_pid() AND application_name <> 'regent copy')
      """)
    guard let row = rows.first else { throw PostgreSQLError(.value, "the server says nothing of itself") }
    version = try row.text(0)
    isDurable = try row.integer(1) == 1
    hasSynchronousStandby = try row.integer(2) == 1
    clock = Instant(milliseconds: try row.integer(3))
    oldestTransaction = .milliseconds(try row.integer(5))
    // A pooler names itself, and not the server's process.
    isPooled = try row.integer(4) != Int64(context.backend)
  }
}
