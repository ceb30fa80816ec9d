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

  /// Looks at every server, where there are several: whoever connects takes the first that lets him, and that may be an
  /// old primary that nobody here has seen the new one of.
  func look(at settings: ConnectionSettings) {
    guard settings.hosts.count > 1 else { return }
    for host in settings.hosts {
      var one = settings
      one.hosts = [host]
      let deadline = Deadline.after(Self.glance)
      // One that is away, a standby or old says nothing new.
      guard let connection = try? Connection.open(one, by: deadline) else { continue }
      _ = try? check(connection, by: deadline)
      connection.close()
    }
  }

  /// How long one server may take; there are a few, and a start waits for it.
  private static let glance = Duration.seconds(1)

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
