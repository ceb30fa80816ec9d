import PostgreSQL
import RegentSQL

/// Keeps services and copies of the whole database apart: services share a lock of the session, and a copy that needs
/// the database to itself has it alone.
///
/// It ends with its connection, however that ends; behind a pooler in transaction mode it stays until the pooler closes
/// that one, so copies are made without one.
enum DatabaseUseLock {
  private static let lock = TablelessLock.use

  /// For the connection over which a service writes.
  ///
  /// Where a stranger keeps it from that it goes on without: a copy that comes then sees its node.
  static func share(_ connection: Connection, by deadline: Deadline) throws(PostgreSQLError) {
    try take("SELECT pg_try_advisory_lock_shared(\(part: lock.key))", connection, alone: true, by: deadline) { others in
      guard others.contains(where: \.counts) else { return nil }
      return PostgreSQLError(
        .refused, "the database is being moved or restored",
        hint: "wait until that regentd has ended, then start this one")
    }
  }

  /// For a copy; refused while a service is there.
  static func takeAlone(_ connection: Connection, by deadline: Deadline) throws(PostgreSQLError) {
    func refusal() -> PostgreSQLError {
      PostgreSQLError(.refused, "another service uses this database", hint: "stop it first")
    }
    try take("SELECT pg_try_advisory_lock(\(part: lock.key))", connection, alone: false, by: deadline) { others in
      guard !others.contains(where: \.counts), let stranger = others.first else { return refusal() }
      // Services that come meanwhile would not notice a copy without it.
      return PostgreSQLError(
        .refused, "\(stranger.words), which may not write here, holds the lock that keeps services from a copy",
        hint: "end it: \(stranger.ending); then allow only the service to connect to the database")
    }
    guard try hasNode(connection, by: deadline) else { return }
    connection.close()
    throw refusal()
  }

  /// Whether a service says that it is there: one that has not written since its connection broke has no lock.
  private static func hasNode(_ connection: Connection, by deadline: Deadline) throws(PostgreSQLError) -> Bool {
    let table = try connection.run("SELECT to_regclass('node') IS NOT NULL", by: deadline)
    guard try table.first?.integer(0) == 1 else { return false }
    let nodes = try connection.run(
      "SELECT 1 FROM node WHERE \(part: Presence.isHeard) AND \(part: Presence.isServed) LIMIT 1", by: deadline)
    return !nodes.isEmpty
  }

  /// The connection is closed when the lock is not to be had; `refusal` may find that it can be done without.
  private static func take(
    _ question: SQL, _ connection: Connection, alone: Bool, by deadline: Deadline,
    _ refusal: ([TablelessLock.Holder]) -> PostgreSQLError?
  ) throws(PostgreSQLError) {
    do throws(PostgreSQLError) {
      while try connection.run(question, by: deadline).first?.integer(0) != 1 {
        let others = try lock.holders(connection, alone: alone, by: deadline)
        if !others.isEmpty {
          if let error = refusal(others) { throw error }
          return
        }
        // It was let go in between.
        CopyConnection.pause()
      }
    } catch {
      connection.close()
      throw error
    }
  }
}
