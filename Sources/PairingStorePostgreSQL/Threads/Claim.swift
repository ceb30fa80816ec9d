import PostgreSQL

/// The claim of one store to be the only one that writes: a lock of the session, which ends with its connection,
/// however that ends.
///
/// Lives on the lane's thread.
final class Claim {
  /// "RGN1": in one database, one store has it.
  private static let lock: Int64 = 0x5247_4E31
  private let onDisplaced: @Sendable (PostgreSQLError) -> Void
  private var wasOurs = false

  init(onDisplaced: @escaping @Sendable (PostgreSQLError) -> Void) { self.onDisplaced = onDisplaced }

  /// Takes it with a new connection.
  ///
  /// - Throws: that another store has it; the connection is closed then.
  func take(_ connection: Connection, by deadline: Deadline) throws(PostgreSQLError) {
    let rows = try connection.run("SELECT pg_try_advisory_lock(\(Self.lock))", by: deadline)
    guard try rows.first?.integer(0) != 1 else {
      wasOurs = true
      return
    }
    connection.close()
    let error = PostgreSQLError(
      .refused, "another service uses this database",
      hint: "stop it first: several services on one database are not possible yet")
    if wasOurs { onDisplaced(error) }
    throw error
  }
}
