import PostgreSQL
import RegentSQL

/// A lock that has no table, so that whoever may connect can take it: it counts when its holder may write our tables.
///
/// Where there are none yet, when he may make them.
///
/// The lock of a table would ask for a right by itself, and for a transaction that is open as long as the service.
struct TablelessLock: Sendable {
  /// "RGN1": who uses the database.
  static let use = TablelessLock(number: "1380404785")
  /// "RGNT": who makes the tables.
  static let tables = TablelessLock(number: "1380404820")

  private let number: SQL

  /// What functions take; two schemas of one database are none of each other's business.
  var key: SQL { "\(part: number), coalesce(hashtext(current_schema()), 0)" }

  /// Somebody else who has it, or waits for it.
  struct Holder: Hashable, Sendable {
    let process: Int64
    let role: String
    /// Whether this keeps anybody from anything.
    let counts: Bool

    /// A transaction that was prepared for a COMMIT in two steps goes on without a process.
    private var isPrepared: Bool { process == 0 }

    var words: String {
      isPrepared ? "a transaction in pg_prepared_xacts" : "the role “\(role)” (process \(process))"
    }

    /// What a superuser types against it.
    var ending: String {
      isPrepared ? "ROLLBACK PREPARED with its name, gid" : "SELECT pg_terminate_backend(\(process))"
    }
  }

  /// The question for the others.
  func others(alone: Bool = false) -> SQL {
    let kind: SQL = alone ? "AND l.mode = 'ExclusiveLock'" : ""
    return """
      SELECT DISTINCT coalesce(CAST(l.pid AS BIGINT), 0), coalesce(CAST(a.usename AS TEXT), ''),
      l.pid IS NOT NULL AND (a.usesysid IS NULL OR EXISTS (
        SELECT 1 FROM pg_roles r WHERE pg_has_role(a.usesysid, r.oid, 'MEMBER')
        AND CASE WHEN to_regclass('cluster') IS NULL THEN has_schema_privilege(r.oid, current_schema(), 'CREATE')
          ELSE has_table_privilege(r.oid, to_regclass('cluster'), 'UPDATE') END))
      FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
      WHERE l.locktype = 'advisory' AND l.classid = \(part: number) AND l.objsubid = 2
      AND l.objid = CAST(coalesce(hashtext(current_schema()), 0) AS OID)
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND l.pid IS DISTINCT FROM pg_backend_pid() \(part: kind)
      ORDER BY 1
      """
  }

  /// The answer to that.
  static func holders(_ rows: Rows) throws(PostgreSQLError) -> [Holder] {
    var found: [Holder] = []
    for row in rows {
      found.append(Holder(process: try row.integer(0), role: try row.text(1), counts: try row.integer(2) == 1))
    }
    return found
  }

  /// The others; `alone` leaves out those who share it.
  func holders(_ connection: Connection, alone: Bool = false, by deadline: Deadline) throws(PostgreSQLError) -> [Holder]
  {
    try Self.holders(connection.run(others(alone: alone), by: deadline))
  }
}
