import PairingStore
package import PostgreSQL
import RegentJSON

// What the shared verbs call PostgreSQL's things; see PairingStoreRows. Its contexts are in Transactions/.

package typealias RowStore = PostgreSQLStore
package typealias Row = PostgreSQL.Row
typealias DatabaseError = PostgreSQLError

/// The words that PostgreSQL does not share with other databases.
enum Dialect {
  /// Where a row lies in its table.
  static let place = "ctid"
  /// No limit, for an OFFSET.
  static let noLimit = "LIMIT ALL"
  /// The bytes of a provider's name.
  static let providerInHex = "upper(encode(convert_to(provider, 'UTF8'), 'hex'))"
  /// A provider's name; the planner knows by itself that the index by provider does not help.
  static let providerWithoutIndex: StaticString = "provider"

  /// What an index has of a long text, as its rows take 2,700 bytes: the SHA-256 of its bytes.
  ///
  /// Nobody finds two texts with one, so it may be unique. The way by `decode` is one that an index may go. Indexes
  /// were made with these words (`Schema.migrations`) and serve no others.
  static func hash(of column: String) -> String {
    #"sha256(decode(replace(\#(column), '\', '\\'), 'escape'))"#
  }
}

extension SQL.StringInterpolation {
  /// The condition that a column holds one of these names, which have no spaces, in one text however many they are.
  mutating func appendInterpolation(_ column: StaticString, among names: [String]) {
    appendLiteral(column)
    appendLiteral(" = ANY(string_to_array(")
    appendInterpolation(names.joined(separator: " "))
    appendLiteral(", ' '))")
  }

  /// The condition that a device may say this of its visitor, which whoever reads the row looks at again.
  ///
  /// By the text, and not by PostgreSQL's JSON: a row that somebody changed into what is no JSON would be an error.
  mutating func appendInterpolation(about visitorID: String) {
    appendLiteral(" AND strpos(about, ")
    appendInterpolation(String(decoding: JSONValue.string(visitorID).bytes(), as: UTF8.self))
    appendLiteral(") > 0")
  }
}

extension PostgreSQL.Row {
  /// Whether the column holds exactly this value.
  func holds(_ other: SQLValue, at column: Int) throws(PostgreSQLError) -> Bool { try value(column) == other }
}

/// A type that a column can be read as.
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
  /// A part of a transaction of the lane, which asks ahead what is named.
  func transaction<Value: Sendable>(
    asking questions: (@Sendable () -> [Question])?,
    thenAsking more: (@Sendable (borrowing ReadContext) throws -> [Question])?,
    _ body: @escaping @Sendable (borrowing WriteContext) throws -> Value
  ) async throws -> Value {
    try await database.write(asking: questions?() ?? [], thenAsking: more, body)
  }
}

extension WriteContext {
  /// The head of the audit log, when this transaction wrote it: it need not be asked for, nor whether there are lines
  /// behind it.
  var writtenAuditHead: Stored<AuditHead>? { transaction.auditHead }

  func note(written head: Stored<AuditHead>) { transaction.auditHead = head }

  /// Tells the other nodes to look at something anew, if this is committed.
  func changed(_ change: @autoclosure () -> StoreChange) { transaction.note(change()) }

  /// Whether something in this transaction may have ended what grants stand on: nobody keeps count here, so yes.
  var movesMark: Bool { true }
}
