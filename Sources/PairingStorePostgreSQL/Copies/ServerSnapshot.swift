public import PostgreSQL
public import RegentCryptography
public import RegentSQL
import RegentPlatform

/// A snapshot of a whole database as of one moment.
///
/// It is one read-only transaction on one connection, so it does not contain later changes of services.
// @unchecked Sendable, because:
// 1. one copy uses it from one thread at a time: each thread waits for the one before;
// 2. no reference to it is kept beyond the copy.
public final class ServerSnapshot: @unchecked Sendable {
  private let connection: Connection
  private let vault: Vault
  private static let patience = CopyConnection.patience

  /// Connects, checks that the tables have this program's version, and decrypts the data keys.
  ///
  /// `isAlone` keeps every service from the database until ``close()``. With it, this throws while a service uses the
  /// database.
  ///
  /// - Throws: `StoreKeyFailure`, `SchemaFailure`, `CopyFailure`, `PostgreSQLError`.
  public init(of server: ConnectionSettings, masterKey: Secret, isAlone: Bool = false) throws {
    let master = try DataKeys.masterKey(masterKey)
    connection = try CopyConnection.open(server, isAlone: isAlone)
    let deadline = Deadline.after(Self.patience)
    do {
      vault = try Rights.explained(connection, by: deadline) { [connection] in
        try connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", by: deadline)
        guard try Schema.isThere(connection, by: deadline) else { throw CopyFailure.nothingThere }
        try Schema.check(connection, by: deadline)
        return try DataKeys.look(in: ReadContext(within: connection, patience: Self.patience), with: master)
      }
    } catch {
      CopyConnection.close(connection)
      throw error
    }
  }

  /// Verifies, counts and hashes every row and passes it on.
  ///
  /// `seen` receives the number of rows read so far; `take` receives all rows, table by table.
  public func survey(
    seen: @escaping @Sendable (Int) -> Void = { _ in }, _ take: (CopiedRows) throws -> Void = { _ in }
  ) throws -> StoreWalkResult {
    try StoreWalk(vault: vault, seen: seen).walk(ReadContext(within: connection, patience: Self.patience), take)
  }

  /// Closes the database to all services, because its rows have been moved elsewhere.
  ///
  /// Use it only on a snapshot with `isAlone`, so that nothing was written since the snapshot. Services that open the
  /// database later report `state` as the reason.
  public func leave(_ state: String) throws {
    try connection.rollback(by: .after(Self.patience))
    try connection.begin(by: .after(Self.patience))
    let closing: SQL = "UPDATE cluster SET state = \(state) WHERE id = 1 AND state = 'open'"
    guard try connection.run(closing, by: .after(Self.patience)).changed == 1 else {
      throw SchemaFailure.closed(state: "closed by another command")
    }
    switch connection.commit(by: .after(Self.patience)) {
    case .committed: return
    case .notCommitted(let error): throw error
    case .unknown(let error): throw CopyFailure.unknown(error)
    }
  }

  /// The stored state of a database: “open” when services may use it, otherwise the place to which its rows were moved.
  public static func state(of server: ConnectionSettings) throws -> String {
    let deadline = Deadline.after(patience)
    let connection = try Connection.open(server, by: deadline)
    defer { connection.close() }
    guard try Schema.isThere(connection, by: deadline) else { throw CopyFailure.nothingThere }
    // Another transaction, such as one with an unknown outcome, may still change the row. `FOR UPDATE` waits for its
    // end.
    try connection.begin(by: deadline)
    let rows = try connection.run("SELECT state FROM cluster WHERE id = 1 FOR UPDATE", by: deadline)
    guard let state = try rows.first?.text(0) else { throw SchemaFailure.damaged("the row of “cluster” is missing") }
    return state
  }

  /// Ends the snapshot and closes the connection.
  ///
  /// Services can use the database again.
  public func close() { CopyConnection.close(connection) }
}
