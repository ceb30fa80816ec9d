import PairingStore
public import PostgreSQL
public import RegentCryptography
import RegentPlatform
public import RegentSQL

/// A database on a server that gets everything a store holds, in one transaction: it is whole after ``commit(mark:)``,
/// and as empty as before when this process is killed at any moment before.
///
/// No service has the database meanwhile.
// @unchecked Sendable, because:
// 1. one copy is made by one thread: the one that reads the rows hands them on while the one that began it waits;
// 2. nobody keeps it beyond that.
public final class ServerFilling: @unchecked Sendable {
  private let connection: Connection
  private let settings: ConnectionSettings
  private static let patience = CopyConnection.patience
  /// So many rows share a statement, and so many statements a round trip.
  private static let rowsInStatement = 32

  /// Connects, makes the tables if there are none, and refuses a database with rows in it.
  ///
  /// - Throws: `CopyFailure`, `SchemaFailure`, `PostgreSQLError`; another service that uses it is one.
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

  /// Writes rows as they are.
  public func take(_ part: CopiedRows) throws {
    precondition(Tables.names.contains(part.table), "no table of a store: \(part.table)")
    var statements: [SQL] = []
    var rest = part.rows[...]
    while !rest.isEmpty {
      // Of two lengths only, or each would be parsed anew.
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

  /// Reads back what was written, and verifies, counts and hashes every row of it.
  public func survey(masterKey: Secret, seen: @escaping @Sendable (Int) -> Void = { _ in }) throws -> StoreSurvey {
    let context = ReadContext(within: connection, patience: Self.patience)
    let vault = try DataKeys.look(in: context, with: DataKeys.masterKey(masterKey))
    return try Survey(vault: vault, seen: seen).walk(context)
  }

  /// Makes it last.
  ///
  /// - Parameter mark: a line of the audit log that was written, and that no other copy has.
  /// - Throws: `PostgreSQLError` when certainly nothing was changed, `CopyFailure.unknown` when nobody could find out.
  public func commit(mark: CopyMark) throws {
    // The next new code counts those that wait.
    let count: SQL = "UPDATE cluster SET live_codes = NULL WHERE id = 1"
    switch connection.commit(after: [count], by: .after(Self.patience)) {
    case .committed: return
    case .notCommitted(let error): throw error
    case .unknown(let error):
      guard try Self.settle(settings, mark, after: error) else { throw error }
    }
  }

  /// Gives it up: nothing of it stays.
  public func close() { CopyConnection.close(connection) }

  /// Finds out what a COMMIT came to that nobody answered.
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

  /// Whether what this mark belongs to has arrived, and lasts.
  ///
  /// Waits for a copy that is still under way.
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
    // Something is written, or this COMMIT would not wait for the standby, which may not have the other one yet.
    let touch: SQL = "UPDATE cluster SET schema = schema WHERE id = 1"
    guard case .committed = connection.commit(after: [touch], by: deadline) else { throw CopyFailure.unknown(nil) }
    return true
  }
}

/// What one copy is known by: a line of the audit log that it alone has.
public struct CopyMark: Hashable, Sendable {
  public let action: String
  public let detail: String

  /// A line with this action and this detail.
  public init(action: String, detail: String) {
    self.action = action
    self.detail = detail
  }
}
