import PairingStore
import RegentJSON
package import SQLite

// Maps the names that the shared verbs use to SQLite's; see PairingStoreRows.

package typealias RowStore = SQLiteStore
package typealias ReadContext = SQLite.ReadContext
package typealias WriteContext = SQLite.WriteContext
package typealias Querying = SQLite.Querying
package typealias Row = SQLite.Row
typealias DatabaseError = SQLiteError

/// The SQL fragments for SQLite where databases differ.
enum Dialect {
  /// The expression for a row's physical position.
  static let place = "rowid"
  /// SQLite allows OFFSET only after a LIMIT; this one limits nothing.
  static let noLimit = "LIMIT -1"
  /// The bytes of a provider's name, in hexadecimal.
  static let providerInHex = "hex(provider)"
  /// A provider's name.
  ///
  /// The plus keeps SQLite from using the index on it, with which it would sort all remaining rows for each page.
  static let providerWithoutIndex: StaticString = "+provider"

  /// Nil: SQLite's indexes contain long texts as they are.
  static func hash(of _: String) -> String? { nil }
}

extension SQL.StringInterpolation {
  /// The condition that a column equals one of these names.
  ///
  /// The SQL text is the same for any number of names.
  mutating func appendInterpolation(_ column: StaticString, among names: [String]) {
    appendLiteral(column)
    appendLiteral(" IN (SELECT value FROM json_each(")
    appendInterpolation(JSONValue.array(names.map(JSONValue.string)).description)
    appendLiteral("))")
  }

  /// The condition that a device description has this visitor id.
  mutating func appendInterpolation(about visitorID: String) {
    // SQLite's JSON functions cut a text at a NUL character.
    guard !visitorID.utf8.contains(0) else { return }
    // An attacker who can write the file may store invalid JSON in the column. Such a row does not match, and causes no
    // error.
    appendLiteral(" AND CASE WHEN json_valid(about) THEN json_extract(about, '$.visitorID') = ")
    appendInterpolation(visitorID)
    appendLiteral(" END")
  }
}

extension Querying where Self: ~Copyable {
  /// Passes the rows of a query to `body`.
  ///
  /// SQLite computes each row only when it is requested.
  borrowing func walk(_ sql: SQL, expecting _: Int, _ body: (borrowing Row) throws -> Void) throws {
    try each(sql, body)
  }

  /// The next rows of a table, sorted by rowid.
  borrowing func page(of table: String, from: Int64, step: Int) throws -> TablePage {
    let places: [Int64] = try all(
      "SELECT rowid FROM \(unsafeRawSQL: table) WHERE rowid >= \(from) ORDER BY rowid LIMIT \(step)"
    ) { try $0.integer(0) }
    guard let last = places.last else { return TablePage(count: 0, condition: "0", next: nil) }
    return TablePage(
      count: places.count, condition: "rowid >= \(from) AND rowid <= \(last)", next: last < .max ? last + 1 : nil)
  }

  /// Runs a query.
  ///
  /// It is not cached, because a query costs too little here.
  borrowing func each(_ question: Question, _ body: (borrowing Row) throws -> Void) throws {
    try each(question.sql, body)
  }

  borrowing func value<Value: SQLDecodable>(_ question: Question) throws -> Value? { try value(question.sql) }
}

extension SQLiteStore {
  /// Runs a transaction on the writer thread.
  ///
  /// It does not run queries in advance, because a query has no round trip here.
  func transaction<Value: Sendable>(
    asking _: (@Sendable () -> [Question])?, thenAsking _: (@Sendable (borrowing ReadContext) throws -> [Question])?,
    _ body: @escaping @Sendable (borrowing WriteContext) throws -> Value
  ) async throws -> Value {
    try await database.write(body)
  }

  /// Does nothing: every write needs space in the write-ahead log, so a committed one has shown that there is some.
  func requireRoom() async throws(StoreError) {}
}

extension WriteContext {
  /// The head of the audit log, if this transaction has written it.
  ///
  /// Nil here, because a query costs too little to cache it.
  var writtenAuditHead: Stored<AuditHead>? { nil }

  borrowing func note(written _: Stored<AuditHead>) {}

  /// Runs a statement.
  ///
  /// No query was run in advance, so there is no result that the touched row could invalidate.
  borrowing func run(_ sql: SQL, touching _: @autoclosure () -> TouchedRow) throws(SQLiteError) { try run(sql) }

  borrowing func runCounting(_ sql: SQL) throws(SQLiteError) -> Int { try run(sql) }

  /// Changes one row; throws `changedMeanwhile` when the row has changed since it was read.
  borrowing func changeOne(
    _ sql: SQL, of table: String, touching _: @autoclosure () -> [TouchedRow]
  ) throws {
    guard try run(sql) == 1 else { throw StoreError.changedMeanwhile(what: table) }
  }

  /// Inserts a row.
  ///
  /// If that violates a constraint, deletes the conflicting row and inserts again.
  borrowing func insert(
    _ insert: SQL, inPlaceOf delete: @autoclosure () -> SQL, touching _: @autoclosure () -> TouchedRow
  ) throws {
    do throws(SQLiteError) {
      try run(insert)
    } catch {
      guard case .constraint = error.code else { throw error }
      try run(delete())
      try run(insert)
    }
  }

  /// Inserts a row unless it conflicts with an existing one, and returns whether it did.
  ///
  /// `careful` is the statement that writes nothing on a conflict.
  borrowing func insertNew(
    _ plain: String, _ careful: String, _ values: [SQLValue], touching _: @autoclosure () -> TouchedRow
  ) throws -> Bool {
    try run(SQL(unsafeRawSQL: careful, values)) == 1
  }
}
