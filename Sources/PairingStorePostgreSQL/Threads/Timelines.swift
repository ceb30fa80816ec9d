import PostgreSQL
import RegentPlatform

/// Which history of the database the servers have, that this store has spoken to.
///
/// A standby that is promoted begins a new one. Its old primary, when it comes back, still takes whoever connects: its
/// changes wait for a standby that is not there, but what is read from it is old, and would say yes after a sign-out.
final class Timelines: Sendable {
  private let highest = Locked<Int64>(0)

  /// The newest that was seen.
  var newest: Int64 { highest.withLock { $0 } }

  /// The history of the server behind a connection.
  ///
  /// - Throws: that it is an old one.
  func check(_ connection: Connection, by deadline: Deadline) throws(PostgreSQLError) -> Int64 {
    let rows = try connection.run(
      """
      SELECT CAST(CAST('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS BIT(32)) AS BIGINT)
      """, by: deadline)
    let timeline = try rows.first?.integer(0) ?? 0
    let newest = highest.withLock { newest in
      newest = max(newest, timeline)
      return newest
    }
    guard timeline == newest else {
      throw PostgreSQLError(
        .readOnly, "\(connection.host) is an old primary: its timeline is \(timeline), and \(newest) was seen",
        hint: "stop it, or have it follow the new primary: pg_rewind")
    }
    return timeline
  }
}
