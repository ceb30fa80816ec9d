public import PostgreSQL
public import RegentCryptography
public import RegentSQL
import RegentPlatform

/// Everything in a database on a server as it is at one moment, beside services that go on or instead of them.
///
/// One transaction of one connection, which writes nothing: what services do meanwhile is not in it.
// @unchecked Sendable, because:
// 1. one copy uses it, from one thread after the other: each waits for the one before;
// 2. nobody keeps it beyond that.
public final class ServerSnapshot: @unchecked Sendable {
  private let connection: Connection
  private let vault: Vault
  private static let patience = CopyConnection.patience

  /// Connects, sees that the tables are those of this program, and opens the data keys.
  ///
  /// `isAlone` keeps every service out until ``close()``, and is refused while one is there.
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

  /// Verifies, counts and hashes every row, and hands it on.
  ///
  /// `seen` is told how many rows there were so far; `take` gets all of them, table by table.
  public func survey(
    seen: @escaping @Sendable (Int) -> Void = { _ in }, _ take: (CopiedRows) throws -> Void = { _ in }
  ) throws -> StoreSurvey {
    try Survey(vault: vault, seen: seen).walk(ReadContext(within: connection, patience: Self.patience), take)
  }

  /// Closes the database to all services: what it held is elsewhere from here on.
  ///
  /// For a snapshot that is alone, so nothing was written since it was taken. `state` is what the database says of
  /// itself to whoever opens it.
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

  /// What a database says of itself: “open” to services, or where its rows are now.
  public static func state(of server: ConnectionSettings) throws -> String {
    let deadline = Deadline.after(patience)
    let connection = try Connection.open(server, by: deadline)
    defer { connection.close() }
    guard try Schema.isThere(connection, by: deadline) else { throw CopyFailure.nothingThere }
    // As the writer that has the row to itself: a transaction whose outcome nobody knew has ended then.
    try connection.begin(by: deadline)
    let rows = try connection.run("SELECT state FROM cluster WHERE id = 1 FOR UPDATE", by: deadline)
    guard let state = try rows.first?.text(0) else { throw SchemaFailure.damaged("the row of “cluster” is missing") }
    return state
  }

  /// Ends it; services may come again.
  public func close() { CopyConnection.close(connection) }
}
