import PostgreSQL
import RegentSQL

/// What a role is told that lacks a right: what the owner of the tables, or of the database, has to type.
struct Rights {
  private let role: String
  private let schema: String
  /// Who owns the tables; nil before there are any.
  private let owner: String?

  /// Asks who this is, and which tables there are: also those that the role may not see.
  private init(_ connection: Connection, by deadline: Deadline) throws(PostgreSQLError) {
    // Without USAGE the server passes over a schema: the last one of the path is meant then.
    let rows = try connection.run(
      """
      WITH place AS (
        SELECT coalesce(current_schema(), trim(BOTH ' "' FROM split_part(current_setting('search_path'), ',', -1))) AS name
      )
      SELECT quote_ident(current_user), quote_ident(name), (
        SELECT quote_ident(pg_get_userbyid(c.relowner)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = name AND c.relname = 'cluster' AND c.relkind = 'r'
      ) FROM place
      """, by: deadline)
    guard let row = rows.first else { throw PostgreSQLError(.value, "the server does not say who this is") }
    (role, schema, owner) = (try row.text(0), try row.text(1), try row.isNull(2) ? nil : row.text(2))
  }

  /// Whether there are tables, also such as this role may not see.
  static func findTables(_ connection: Connection, by deadline: Deadline) throws(PostgreSQLError) -> Bool {
    try Rights(connection, by: deadline).owner != nil
  }

  /// Runs what a role without some right cannot, and says which GRANT is missing.
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
    // Who may not even see them tries to make them anew.
    let makes = error.state == .noRight && ["ALTER", "CREATE", "DROP"].contains { error.sql?.hasPrefix($0) == true }
    guard makes else { return "as \(owner), who owns the tables: GRANT USAGE ON SCHEMA \(schema) TO \(role); \(rows)" }
    return "this version adds to the tables: start it once as \(owner), who owns them, then \(rows)"
  }
}
