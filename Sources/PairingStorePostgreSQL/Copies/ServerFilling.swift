import PairingStore
public import PostgreSQL
public import RegentCryptography
import RegentPlatform
public import RegentSQL

/// Fills an empty database with a copy of a store, in one transaction.
///
/// The copy is complete after ``commit(mark:)``. If the process is killed before, the database is as empty as it was.
/// No service can use the database meanwhile.
// @unchecked Sendable, because:
// 1. one thread at a time uses it: the thread that reads the rows passes them on while the thread that began waits;
// 2. no reference to it is kept beyond the copy.
public final class ServerFilling: @unchecked Sendable {
  private let connection: Connection
  private let settings: ConnectionSettings
  private static let patience = CopyConnection.patience
  /// The number of rows that one INSERT writes.
  ///
  /// One round trip sends several of these.
  private static let rowsInStatement = 32

  /// Connects to the database to fill, and creates the tables if it has none.
  ///
  /// Throws if the tables contain rows.
  ///
  /// - Throws: `CopyFailure`, `SchemaFailure`, `PostgreSQLError` (also when a service uses the database).
  public init(_ server: ConnectionSettings) throws {
    settings = server
    connection = try CopyConnection.open(server, isAlone: true)
    let deadline = Deadline.after(Self.patience)
    do {
      try Rights.explained(connection, by: deadline) {
        try connection.begin(by: deadline)
        try Schema.makeIfMissing(connection, by: deadline)
        for table in Tables.names {
          let found = try connection.run("SELECT 1 FROM \(unsafeRawSQL: table) LIMIT 1", by: deadline)
          guard found.isEmpty else { throw CopyFailure.notEmpty(table: table) }
        }
      }
    } catch {
      CopyConnection.close(connection)
      throw error
    }
  }

  /// Inserts rows of the copied store unchanged.
  public func take(_ part: CopiedRows) throws {
    precondition(Tables.names.contains(part.table), "no table of a store: \(part.table)")
    var statements: [SQL] = []
    var rest = part.rows[...]
    while !rest.isEmpty {
      // An INSERT has one of two lengths, because the server must parse each different SQL text anew.
      let some = rest.count >= Self.rowsInStatement ? rest.prefix(Self.rowsInStatement) : rest.prefix(1)
      rest = rest.dropFirst(some.count)
      let places = "(" + part.columns.map { _ in "?" }.joined(separator: ", ") + ")"
      let text =
        "INSERT INTO \(part.table) (\(part.columns.joined(separator: ", "))) VALUES "
        + some.map { _ in places }.joined(separator: ", ")
      statements.append(SQL(unsafeRawSQL: text, some.flatMap(\.self)))
    }
    do throws(PostgreSQLError) {
      _ = try connection.run(statements, by: .after(Self.patience))
    } catch {
      throw error.kind == .value || error.state != nil ? CopyFailure.refusedRow(table: part.table, error) : error
    }
  }

  /// Reads the copied rows back from the server, and verifies, counts and hashes them.
  public func survey(masterKey: Secret, seen: @escaping @Sendable (Int) -> Void = { _ in }) throws -> StoreWalkResult {
    let context = ReadContext(within: connection, patience: Self.patience)
    let vault = try DataKeys.look(in: context, with: DataKeys.masterKey(masterKey))
    return try StoreWalk(vault: vault, seen: seen).walk(context)
  }

  /// Commits the copy.
  ///
  /// - Parameter mark: an audit line that is part of this copy and of no other.
  /// - Throws: `PostgreSQLError` when nothing was changed, `CopyFailure.unknown` when the outcome could not be found
  ///   out.
  public func commit(mark: CopyMark) throws {
    // With NULL the service counts the pending codes when it makes the next code.
    let count: SQL = "UPDATE cluster SET live_codes = NULL WHERE id = 1"
    switch connection.commit(after: [count], by: .after(Self.patience)) {
    case .committed: return
    case .notCommitted(let error): throw error
    case .unknown(let error):
      guard try Self.settle(settings, mark, after: error) else { throw error }
    }
  }

  /// Rolls the copy back, unless it was committed, and closes the connection.
  public func close() { CopyConnection.close(connection) }

  /// Finds out whether a COMMIT of a copy succeeded, after the connection broke before the response.
  private static func settle(_ server: ConnectionSettings, _ mark: CopyMark, after error: PostgreSQLError) throws
    -> Bool
  {
    let end = Clocks.bootNanoseconds() + patience.wholeNanoseconds
    while true {
      do {
        return try isThere(mark, on: server)
      } catch {
        guard Clocks.bootNanoseconds() < end else { throw CopyFailure.unknown(error as? PostgreSQLError) }
        CopyConnection.pause()
      }
    }
  }

  /// Whether the copy with this mark was committed and is durable.
  ///
  /// It waits for a copy that is still in progress.
  public static func isThere(_ mark: CopyMark, on server: ConnectionSettings) throws -> Bool {
    let deadline = Deadline.after(patience)
    let connection = try Connection.open(server, by: deadline)
    defer { connection.close() }
    try connection.begin(by: deadline)
    try Schema.wait(connection, by: deadline)
    guard try Schema.isThere(connection, by: deadline),
      try !connection.run(
        "SELECT 1 FROM audit WHERE action = \(mark.action) AND detail = \(mark.detail) LIMIT 1", by: deadline
      ).isEmpty
    else { return false }
    // The transaction must write something. Otherwise its COMMIT would not wait for the standby, which may not have
    // received the copy yet.
    let touch: SQL = "UPDATE cluster SET schema = schema WHERE id = 1"
    guard case .committed = connection.commit(after: [touch], by: deadline) else { throw CopyFailure.unknown(nil) }
    return true
  }
}

/// An audit line that identifies one copy, because no other copy has it.
public struct CopyMark: Hashable, Sendable {
  public let action: String
  public let detail: String

  public init(action: String, detail: String) {
    self.action = action
    self.detail = detail
  }
}
