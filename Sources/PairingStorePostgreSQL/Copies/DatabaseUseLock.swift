import PostgreSQL
import RegentSQL

/// An advisory lock that keeps services from using a database while a copy needs it for itself.
///
/// Services hold the lock shared; such a copy holds it exclusively. The lock ends with its connection. Behind a pooler
/// in transaction mode it lasts until the pooler closes the server connection, so copies must connect without a pooler.
enum DatabaseUseLock {
  private static let lock = AdvisoryLock.use

  /// Takes the shared lock, on the connection over which a service writes.
  ///
  /// If the lock is blocked by a role that may not write the tables, the service goes on without the lock. A copy then
  /// recognizes the service by its row in the table `node`.
  static func share(_ connection: Connection, by deadline: Deadline) throws(PostgreSQLError) {
    try take("SELECT pg_try_advisory_lock_shared(\(part: lock.key))", connection, alone: true, by: deadline) { others in
      guard others.contains(where: \.counts) else { return nil }
      return PostgreSQLError(
        .refused, "the database is being moved or restored",
        hint: "wait until that regentd has ended, then start this one")
    }
  }

  /// Takes the exclusive lock for a copy; throws while a service uses the database.
  static func takeAlone(_ connection: Connection, by deadline: Deadline) throws(PostgreSQLError) {
    func refusal() -> PostgreSQLError {
      PostgreSQLError(.refused, "another service uses this database", hint: "stop it first")
    }
    try take("SELECT pg_try_advisory_lock(\(part: lock.key))", connection, alone: false, by: deadline) { others in
      guard !others.contains(where: \.counts), let stranger = others.first else { return refusal() }
      // Without the lock a copy must not start, because services that start meanwhile would not notice the copy.
      return PostgreSQLError(
        .refused, "\(stranger.words), which may not write here, holds the lock that keeps services from a copy",
        hint: "end it: \(stranger.ending); then allow only the service to connect to the database")
    }
    guard try hasNode(connection, by: deadline) else { return }
    connection.close()
    throw refusal()
  }

  /// Whether a service has reported itself in the table `node`.
  ///
  /// This finds a service whose connection broke and that has not written since: it holds no lock.
  private static func hasNode(_ connection: Connection, by deadline: Deadline) throws(PostgreSQLError) -> Bool {
    let table = try connection.run("SELECT to_regclass('node') IS NOT NULL", by: deadline)
    guard try table.first?.integer(0) == 1 else { return false }
    let nodes = try connection.run(
      "SELECT 1 FROM node WHERE \(part: Presence.isHeard) AND \(part: Presence.isServed) LIMIT 1", by: deadline)
    return !nodes.isEmpty
  }

  /// Takes a lock, and closes the connection if that fails.
  ///
  /// `refusal` may return nil when the caller can do without the lock.
  private static func take(
    _ question: SQL, _ connection: Connection, alone: Bool, by deadline: Deadline,
    _ refusal: ([AdvisoryLock.Holder]) -> PostgreSQLError?
  ) throws(PostgreSQLError) {
    do throws(PostgreSQLError) {
      while try connection.run(question, by: deadline).first?.integer(0) != 1 {
        let others = try lock.holders(connection, alone: alone, by: deadline)
        if !others.isEmpty {
          if let error = refusal(others) { throw error }
          return
        }
        // No holder was found: the other session released the lock between the two queries. Try again.
        CopyConnection.pause()
      }
    } catch {
      connection.close()
      throw error
    }
  }
}
