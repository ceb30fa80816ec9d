import PairingStore
package import PostgreSQL
import RegentJSON

// Maps the names that the shared store operations use to PostgreSQL's; see PairingStoreRows. The contexts are in
// Transactions/.

package typealias RowStore = PostgreSQLStore
package typealias Row = PostgreSQL.Row
typealias DatabaseError = PostgreSQLError

/// The SQL fragments for PostgreSQL where databases differ.
enum Dialect {
  /// The expression for a row's physical position.
  static let place = "ctid"
  /// A LIMIT that limits nothing.
  static let noLimit = "LIMIT ALL"
  /// The SQL expression for the bytes of a provider's name, in hexadecimal.
  static let providerInHex = "upper(encode(convert_to(provider, 'UTF8'), 'hex'))"
  /// The SQL expression for a provider's name in queries that must not use the index on it.
  ///
  /// PostgreSQL's planner avoids that index without help.
  static let providerWithoutIndex: StaticString = "provider"

  /// The expression by which indexes contain a long text: the SHA-256 of its bytes, because an index entry is limited
  /// to about 2,700 bytes.
  ///
  /// SHA-256 is collision-resistant, so the index may be unique. `decode` is used because an index allows only
  /// immutable functions. The expression must not change: existing indexes (`Schema.migrations`) serve only queries
  /// with exactly this one.
  static func hash(of column: String) -> String {
    #"sha256(decode(replace(\#(column), '\', '\\'), 'escape'))"#
  }
}

extension SQL.StringInterpolation {
  /// Writes the condition that a column equals one of these names, which contain no spaces.
  ///
  /// The SQL text is the same for any number of names.
  mutating func appendInterpolation(_ column: StaticString, among names: [String]) {
    appendLiteral(column)
    appendLiteral(" = ANY(string_to_array(")
    appendInterpolation(names.joined(separator: " "))
    appendLiteral(", ' '))")
  }

  /// Writes the condition that a device description may contain this visitor id.
  ///
  /// The caller checks each row again after decoding it.
  ///
  /// It searches the text instead of using JSON functions, because PostgreSQL would raise an error for a row that an
  /// attacker has changed to invalid JSON.
  mutating func appendInterpolation(about visitorID: String) {
    appendLiteral(" AND strpos(about, ")
    appendInterpolation(String(decoding: JSONValue.string(visitorID).bytes(), as: UTF8.self))
    appendLiteral(") > 0")
  }
}

extension PostgreSQL.Row {
  func holds(_ other: SQLValue, at column: Int) throws(PostgreSQLError) -> Bool { try value(column) == other }
}

protocol SQLDecodable {
  init(row: borrowing Row, column: Int) throws(PostgreSQLError)
}

extension Int64: SQLDecodable {
  init(row: borrowing Row, column: Int) throws(PostgreSQLError) { self = try row.integer(column) }
}

extension Int: SQLDecodable {
  init(row: borrowing Row, column: Int) throws(PostgreSQLError) { self = Int(try row.integer(column)) }
}

extension String: SQLDecodable {
  init(row: borrowing Row, column: Int) throws(PostgreSQLError) { self = try row.text(column) }
}

extension PostgreSQLStore {
  /// Runs a store operation as its part of a transaction on the writer thread, which runs the declared queries in
  /// advance.
  func transaction<Value: Sendable>(
    asking questions: (@Sendable () -> [Question])?,
    thenAsking more: (@Sendable (borrowing ReadContext) throws -> [Question])?,
    _ body: @escaping @Sendable (borrowing WriteContext) throws -> Value
  ) async throws -> Value {
    try await database.write(asking: questions?() ?? [], thenAsking: more, body)
  }
}

extension WriteContext {
  /// The head of the audit log as this transaction has written it; nil when it has not written it.
  ///
  /// With it, appending another line needs no query.
  var writtenAuditHead: Stored<AuditHead>? { transaction.auditHead }

  func note(written head: Stored<AuditHead>) { transaction.auditHead = head }

  /// Records a change that other nodes must read, if the transaction commits.
  func changed(_ change: @autoclosure () -> StoreChange) { transaction.note(change()) }

  /// Whether a grant, or a record that it depends on, may have ended in this transaction.
  ///
  /// Always true, because this store has no change counter.
  var movesMark: Bool { true }
}
