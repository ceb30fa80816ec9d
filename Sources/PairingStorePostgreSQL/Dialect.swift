import PairingStore
package import PostgreSQL
import RegentJSON

// Maps the names that the shared verbs use to PostgreSQL's; see PairingStoreRows. The contexts are in Transactions/.

package typealias RowStore = PostgreSQLStore
package typealias Row = PostgreSQL.Row
typealias DatabaseError = PostgreSQLError

/// The SQL fragments for PostgreSQL where databases differ.
enum Dialect {
  /// The expression for a row's physical position.
  static let place = "ctid"
  /// A LIMIT that limits nothing.
  static let noLimit = "LIMIT ALL"
  /// The bytes of a provider's name, in hexadecimal.
  static let providerInHex = "upper(encode(convert_to(provider, 'UTF8'), 'hex'))"
  /// A provider's name.
  ///
  /// PostgreSQL's planner avoids the index on it without help.
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
  /// The condition that a column equals one of these names, which contain no spaces.
  ///
  /// The SQL text is the same for any number of names.
  mutating func appendInterpolation(_ column: StaticString, among names: [String]) {
    appendLiteral(column)
    appendLiteral(" = ANY(string_to_array(")
    appendInterpolation(names.joined(separator: " "))
    appendLiteral(", ' '))")
  }

  /// The condition that a device description may contain this visitor id.
  ///
  /// The caller checks the decoded row again.
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
  /// Runs a part of a transaction of the lane, which runs the declared queries in advance.
  func transaction<Value: Sendable>(
    asking questions: (@Sendable () -> [Question])?,
    thenAsking more: (@Sendable (borrowing ReadContext) throws -> [Question])?,
    _ body: @escaping @Sendable (borrowing WriteContext) throws -> Value
  ) async throws -> Value {
    try await database.write(asking: questions?() ?? [], thenAsking: more, body)
  }
}

extension WriteContext {
  /// The head of the audit log, if this transaction has written it.
  ///
  /// Then neither the head nor the newest line must be queried.
  var writtenAuditHead: Stored<AuditHead>? { transaction.auditHead }

  func note(written head: Stored<AuditHead>) { transaction.auditHead = head }

  /// Records a change that other nodes must read, if the transaction commits.
  func changed(_ change: @autoclosure () -> StoreChange) { transaction.note(change()) }

  /// Always true: this store has no change counter, so it must assume that grants may have ended.
  var movesMark: Bool { true }
}
