import PostgreSQL
import RegentSQL

/// Keeps services and copies of the whole database apart: services share a lock of the session, and a copy that needs
/// the database to itself has it alone.
///
/// It ends with its connection, however that ends; behind a pooler in transaction mode it stays until the pooler closes
/// that one, so copies are made without one.
enum DatabaseUseLock {
  /// "RGN1", and the schema, as two services may have a schema each of one database.
  private static let lock: SQL = "1380404785, coalesce(hashtext(current_schema()), 0)"

  /// For the connection over which a service writes.
  static func share(_ connection: Connection, by deadline: Deadline) throws(PostgreSQLError) {
    try take("SELECT pg_try_advisory_lock_shared(\(part: lock))", connection, by: deadline) {
      PostgreSQLError(
        .refused, "the database is being moved or restored",
        hint: "wait until that regentd has ended, then start this one")
    }
  }

  /// For a copy; refused while a service is there.
  static func takeAlone(_ connection: Connection, by deadline: Deadline) throws(PostgreSQLError) {
    func refusal() -> PostgreSQLError {
      PostgreSQLError(.refused, "another service uses this database", hint: "stop it first")
    }
    try take("SELECT pg_try_advisory_lock(\(part: lock))", connection, by: deadline, refusal)
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

  /// The connection is closed when the lock is not to be had.
  private static func take(
    _ question: SQL, _ connection: Connection, by deadline: Deadline, _ refusal: () -> PostgreSQLError
  ) throws(PostgreSQLError) {
    do throws(PostgreSQLError) {
      guard try connection.run(question, by: deadline).first?.integer(0) == 1 else { throw refusal() }
    } catch {
      connection.close()
      throw error
    }
  }
}
