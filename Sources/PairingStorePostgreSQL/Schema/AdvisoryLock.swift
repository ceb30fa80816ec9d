import PostgreSQL
import RegentSQL

/// An advisory lock of PostgreSQL.
///
/// Any role that may connect can take it. It therefore counts only if its holder may write the tables, or may create
/// them if they do not exist.
///
/// A table lock would check privileges by itself, but would need a transaction that is open as long as the service.
struct AdvisoryLock: Sendable {
  /// The lock of processes that use the database.
  ///
  /// Its number is "RGN1" in ASCII.
  static let use = AdvisoryLock(number: "1380404785")
  /// The lock of a process that creates tables.
  ///
  /// Its number is "RGNT" in ASCII.
  static let tables = AdvisoryLock(number: "1380404820")

  private let number: SQL

  /// The arguments of PostgreSQL's lock functions for this lock.
  ///
  /// They contain a hash of the schema's name, because two schemas of one database are independent.
  var key: SQL { "\(part: number), coalesce(hashtext(CAST(current_schema() AS TEXT)), 0)" }

  /// Another session that holds the advisory lock or waits for it.
  struct Holder: Hashable, Sendable {
    let process: Int64
    let role: String
    /// Whether this session's lock has any effect, because its role may write the tables.
    let counts: Bool

    /// Whether the lock is held by a prepared transaction (two-phase commit), which has no process.
    private var isPrepared: Bool { process == 0 }

    var words: String {
      isPrepared ? "a transaction in pg_prepared_xacts" : "the role “\(role)” (process \(process))"
    }

    /// What a superuser must type to end the session that holds the lock.
    var ending: String {
      isPrepared ? "ROLLBACK PREPARED with its name, gid" : "SELECT pg_terminate_backend(\(process))"
    }
  }

  /// The query for the other sessions that hold the lock or wait for it.
  func others(alone: Bool = false) -> SQL {
    let kind: SQL = alone ? "AND l.mode = 'ExclusiveLock'" : ""
    return """
      SELECT DISTINCT coalesce(CAST(l.pid AS BIGINT), 0), coalesce(CAST(a.usename AS TEXT), ''),
      l.pid IS NOT NULL AND (a.usesysid IS NULL OR EXISTS (
        SELECT 1 FROM pg_roles r WHERE pg_has_role(a.usesysid, r.oid, 'MEMBER')
        AND CASE WHEN to_regclass('cluster') IS NULL THEN has_schema_privilege(r.oid, CAST(current_schema() AS TEXT), 'CREATE')
          ELSE has_table_privilege(r.oid, to_regclass('cluster'), 'UPDATE') END))
      FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
      WHERE l.locktype = 'advisory' AND l.classid = \(part: number) AND l.objsubid = 2
      AND l.objid = CAST(coalesce(hashtext(CAST(current_schema() AS TEXT)), 0) AS OID)
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND l.pid IS DISTINCT FROM pg_backend_pid() \(part: kind)
      ORDER BY 1
      """
  }

  /// Decodes the result of the query `others(alone:)`.
  static func holders(_ rows: Rows) throws(PostgreSQLError) -> [Holder] {
    var found: [Holder] = []
    for row in rows {
      found.append(Holder(process: try row.integer(0), role: try row.text(1), counts: try row.integer(2) == 1))
    }
    return found
  }

  /// The other sessions that hold the lock or wait for it; `alone` leaves out those that hold it shared.
  func holders(_ connection: Connection, alone: Bool = false, by deadline: Deadline) throws(PostgreSQLError) -> [Holder]
  {
    try Self.holders(connection.run(others(alone: alone), by: deadline))
  }
}
