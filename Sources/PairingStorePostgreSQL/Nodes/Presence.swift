import PostgreSQL
import RegentPairing
import RegentSQL

/// The row in the table `node` that reserves a node's name and shows that the node is running.
///
/// A lock of the database session does not suffice, because a pooler would keep the lock of a program that has ended.
struct Presence: Sendable {
  let name: String
  let lane: Int64
  let version: String

  /// The time between two heartbeats, in nanoseconds.
  static let pause: UInt64 = 1_000_000_000

  /// How long a node is remembered after its last heartbeat: a day, in milliseconds.
  static let memory: Int64 = 86_400_000

  /// The SQL condition that a node sent a heartbeat within the last day (`memory`), by the database's clock.
  static let isRemembered: SQL = "node.seen > now() - CAST(\(memory) AS BIGINT) * INTERVAL '1 millisecond'"

  /// The SQL condition that a node sent a heartbeat within the last few seconds, by the database's clock.
  static let isHeard: SQL =
    """
    (node.seen > now() - CAST(\(NodeID.silence.wholeMilliseconds) AS BIGINT) * INTERVAL '1 millisecond'
    AND NOT \(part: Moments.isComing("node.seen")))
    """

  /// The SQL condition that the server still has the process that serves the node's connection.
  static let isServed: SQL = "EXISTS (SELECT 1 FROM pg_stat_activity a WHERE a.pid = node.backend)"

  /// The statement for a heartbeat.
  ///
  /// It reserves or keeps the node's name, and changes nothing if another node has the name.
  ///
  /// A name is free when its node has sent no heartbeat for too long or its connection has ended.
  ///
  /// `said` is the node's report. The returned row holds: the instruction of the operators, the number of other serving
  /// nodes, whether a COMMIT waits for the standby, the database's time, the nodes that are silent without having
  /// signed off, and the reports of the others, one in a line.
  ///
  /// The table is unlogged and therefore empty after a fail-over. For that case `age` passes for how long the node has
  /// been running, in milliseconds, and `wish` the instruction that it had.
  func beat(_ said: String, age: Int64, wish: String) -> SQL {
    """
    INSERT INTO node (name, lane, backend, version, said, started, wish)
    VALUES (\(name), \(lane), pg_backend_pid(), \(version), \(said),
      now() - CAST(\(age) AS BIGINT) * INTERVAL '1 millisecond', \(wish))
    ON CONFLICT (name) DO UPDATE SET lane = EXCLUDED.lane, backend = EXCLUDED.backend, version = EXCLUDED.version,
    seen = now(), said = EXCLUDED.said,
    started = CASE WHEN node.lane = EXCLUDED.lane THEN node.started ELSE EXCLUDED.started END,
    wish = CASE WHEN node.lane = EXCLUDED.lane THEN node.wish ELSE '' END
    WHERE node.lane = EXCLUDED.lane OR NOT \(part: Self.isHeard)
    OR NOT \(part: Self.isServed)
    RETURNING wish, (SELECT count(*) FROM node WHERE name <> \(name) AND \(part: Self.isHeard)),
    EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user
      AND wait_event = 'SyncRep' AND query_start < clock_timestamp() - INTERVAL '1 second'),
    CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT),
    coalesce((SELECT string_agg(name, ' ') FROM node WHERE name <> \(name) AND NOT \(part: Self.isHeard)), ''),
    coalesce((SELECT string_agg(said, chr(10)) FROM node WHERE name <> \(name) AND \(part: Self.isHeard)), '')
    """
  }

  /// The statement that frees the node's name.
  var leave: SQL { "DELETE FROM node WHERE name = \(name) AND lane = \(lane)" }

  /// The error for a node whose name is reserved by another node.
  var refusal: PostgreSQLError {
    PostgreSQLError(
      .refused, "another service that is called “\(name)” uses this database",
      hint: "give each its own name: regentd serve --node NAME; or stop the other one first")
  }
}

/// Checks of times that were read from tables without signatures.
///
/// An attacker who can write these tables can store any time. One of them is `infinity`, which cannot be converted to a
/// number and makes interval arithmetic fail.
enum Moments {
  /// The SQL condition that a time is more than a day ahead of the database's clock.
  ///
  /// No node writes such a time, and waiting for it would never end. A smaller difference is no sign of an attack: it
  /// also arises when a clock is set back.
  static func isComing(_ column: String) -> SQL {
    SQL(unsafeRawSQL: "\(column) > now() + INTERVAL '1 day'", [])
  }
}

/// The numbers of rows in the table `nonce`, which is not signed either.
enum NonceNumbers {
  /// The SQL condition that nodes can have counted to this number.
  ///
  /// Nodes start at the microseconds since 1970 and add one every two milliseconds at most. Half of the range is left,
  /// so that adding and subtracting cannot overflow.
  static func isCredible(_ column: String) -> SQL {
    SQL(unsafeRawSQL: "\(column) BETWEEN 0 AND 4611686018427387904", [])
  }
}
