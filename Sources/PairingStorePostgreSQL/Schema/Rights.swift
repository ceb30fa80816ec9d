import PostgreSQL
import RegentSQL

/// Finds out what the owner of the tables or of the database must type when a role lacks a privilege.
struct Rights {
  private let role: String
  private let schema: String
  /// The owner of the tables; nil if the database has none.
  private let owner: String?

  /// Reads the role's name and finds the store's tables, even if the role may not see them.
  private init(_ connection: Connection, by deadline: Deadline) throws(PostgreSQLError) {
    // `current_schema()` skips a schema on which the role has no USAGE. If it skips all, the last schema of the search
    // path is meant.
    let rows = try connection.run(
      """
      WITH place AS (
        SELECT coalesce(CAST(current_schema() AS TEXT), trim(BOTH ' "' FROM split_part(current_setting('search_path'), ',', -1))) AS name
      )
      SELECT quote_ident(CAST(current_user AS TEXT)), quote_ident(name), (
        SELECT quote_ident(CAST(pg_get_userbyid(c.relowner) AS TEXT)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = name AND c.relname = 'cluster' AND c.relkind = 'r'
      ) FROM place
      """, by: deadline)
    guard let row = rows.first else { throw PostgreSQLError(.value, "the server does not say who this is") }
    (role, schema, owner) = (try row.text(0), try row.text(1), try row.isNull(2) ? nil : row.text(2))
  }

  /// Whether the store's tables exist, even if this role may not see them.
  static func findTables(_ connection: Connection, by deadline: Deadline) throws(PostgreSQLError) -> Bool {
    try Rights(connection, by: deadline).owner != nil
  }

  /// Runs `body`, and adds the missing GRANT as a hint when the role lacks a privilege.
  static func explained<Value>(
    _ connection: Connection, by deadline: Deadline, _ body: () throws -> Value
  ) throws -> Value {
    let rights = try Rights(connection, by: deadline)
    do {
      return try body()
    } catch let error as PostgreSQLError where error.state == .noRight || error.state == .noSchema {
      throw PostgreSQLError(
        error.kind, error.message, sql: error.sql, constraint: error.constraint, hint: rights.hint(about: error))
    }
  }

  private func hint(about error: PostgreSQLError) -> String {
    let rows = "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO \(role)"
    guard let owner else {
      return "a first start, a move and a restore make the tables: GRANT USAGE, CREATE ON SCHEMA \(schema) TO \(role); "
        + "or do it in another role, then \(rows)"
    }
    // A role that may not see the tables tries to create them, and fails there.
    let makes = error.state == .noRight && ["ALTER", "CREATE", "DROP"].contains { error.sql?.hasPrefix($0) == true }
    guard makes else { return "as \(owner), who owns the tables: GRANT USAGE ON SCHEMA \(schema) TO \(role); \(rows)" }
    return "this version adds to the tables: start it once as \(owner), who owns them, then \(rows)"
  }
}
