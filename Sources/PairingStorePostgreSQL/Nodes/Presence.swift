import PostgreSQL
import RegentPairing
import RegentSQL

/// The row that says that a node is there: under its name, which no other one may have at the same time.
///
/// It is no lock of the session, which a pooler would keep for a program that is gone.
struct Presence: Sendable {
  let name: String
  let lane: Int64
  let version: String

  /// Between two beats.
  static let pause: UInt64 = 1_000_000_000

  /// So long a node is remembered that says nothing: a day, in milliseconds.
  static let memory: Int64 = 86_400_000

  /// The condition that the node of a row was heard of within that time, by the database's clock.
  static let isRemembered: SQL = "node.seen > now() - CAST(\(memory) AS BIGINT) * INTERVAL '1 millisecond'"

  /// The condition that the node of a row was heard of lately, by the database's clock.
  static let isHeard: SQL =
    """
    (node.seen > now() - CAST(\(NodeID.silence.wholeMilliseconds) AS BIGINT) * INTERVAL '1 millisecond'
    AND NOT \(part: Moments.isComing("node.seen")))
    """

  /// The condition that the server works for the node of a row.
  static let isServed: SQL = "EXISTS (SELECT 1 FROM pg_stat_activity a WHERE a.pid = node.backend)"

  /// Takes the name, or says that we have it still; one that is taken changes nothing.
  ///
  /// It is free when its node has not beaten for so long, or the server does not work for it any more.
  ///
  /// `said` is what it says of itself; the row that comes back is what operators want of it, how many others serve,
  /// whether a COMMIT waits for the standby, what time it is there, who is silent without having gone, and what the
  /// others say of themselves, a line each.
  ///
  /// The table is empty after a fail-over, as it is not logged: `age` is how long the node has been there, in
  /// milliseconds, and `wish` what operators wanted of it until then.
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

  /// Gives the name back.
  var leave: SQL { "DELETE FROM node WHERE name = \(name) AND lane = \(lane)" }

  /// Why nothing can be done under a name that somebody else has.
  var refusal: PostgreSQLError {
    PostgreSQLError(
      .refused, "another service that is called “\(name)” uses this database",
      hint: "give each its own name: regentd serve --node NAME; or stop the other one first")
  }
}

/// Times in tables that are not signed: whoever may write there may write any.
///
/// `infinity` is among them, from which nothing can be taken away and which no number can say.
enum Moments {
  /// The condition that a time is more than a day ahead of the database's clock.
  ///
  /// No node wrote that, and who waits for it waits for ever. Less is what a clock leaves behind that was set back.
  static func isComing(_ column: String) -> SQL {
    SQL(unsafeRawSQL: "\(column) > now() + INTERVAL '1 day'", [])
  }
}
