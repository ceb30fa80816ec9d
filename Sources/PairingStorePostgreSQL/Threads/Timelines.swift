import PostgreSQL
import RegentPlatform

/// The newest timeline of the database that this store has seen.
///
/// PostgreSQL numbers the histories of a database as timelines: a standby that is promoted to primary begins a new one.
/// The old primary, when it comes back, still accepts connections. Writes to it would wait forever for a standby that
/// follows it, but reads would return old data. After a sign-out, for example, it would still report the device as
/// signed in.
final class Timelines: Sendable {
  private let highest = Locked<Int64>(0)

  var newest: Int64 { highest.withLock { $0 } }

  /// Reads the timeline of every server, if there are several.
  ///
  /// A connection uses the first server that accepts it. That may be an old primary, as long as this store does not
  /// know the new primary's timeline.
  func look(at settings: ConnectionSettings) {
    guard settings.hosts.count > 1 else { return }
    for host in settings.hosts {
      var one = settings
      one.hosts = [host]
      let deadline = Deadline.after(Self.glance)
      // A server that is unreachable, a standby or an old primary reports no new timeline.
      guard let connection = try? Connection.open(one, by: deadline) else { continue }
      _ = try? check(connection, by: deadline)
      connection.close()
    }
  }

  /// The time limit for reading one server's timeline.
  ///
  /// It is short because the store's opening waits for this check. There are only a few servers.
  private static let glance = Duration.seconds(1)

  /// Reads the timeline of a connection's server.
  ///
  /// - Throws: `PostgreSQLError` when the timeline is an old one.
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
