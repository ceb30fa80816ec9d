import PairingStore
import RegentJSON
package import SQLite

// What the shared verbs call SQLite's things; see PairingStoreRows.

package typealias RowStore = SQLiteStore
package typealias ReadContext = SQLite.ReadContext
package typealias WriteContext = SQLite.WriteContext
package typealias Querying = SQLite.Querying
package typealias Row = SQLite.Row
typealias DatabaseError = SQLiteError

/// The words that SQLite does not share with other databases.
enum Dialect {
  /// Where a row lies in its table.
  static let place = "rowid"
  /// No limit, for an OFFSET that wants one beside it.
  static let noLimit = "LIMIT -1"
  /// The bytes of a provider's name.
  static let providerInHex = "hex(provider)"
  /// A provider's name, with a plus that keeps SQLite from the index by provider: it would sort all that is left for
  /// each page.
  static let providerWithoutIndex: StaticString = "+provider"

  /// What an index has of a long text: all of it.
  static func hash(of _: String) -> String? { nil }
}

extension SQL.StringInterpolation {
  /// The condition that a column holds one of these names, in one text however many they are.
  mutating func appendInterpolation(_ column: StaticString, among names: [String]) {
    appendLiteral(column)
    appendLiteral(" IN (SELECT value FROM json_each(")
    appendInterpolation(JSONValue.array(names.map(JSONValue.string)).description)
    appendLiteral("))")
  }

  /// The condition that a device says this of its visitor.
  mutating func appendInterpolation(about visitorID: String) {
    // SQLite's JSON ends a text at a zero.
    guard !visitorID.utf8.contains(0) else { return }
    // Whoever may write the file may have put something there that is no JSON: that row is left out, no more.
    appendLiteral(" AND CASE WHEN json_valid(about) THEN json_extract(about, '$.visitorID') = ")
    appendInterpolation(visitorID)
    appendLiteral(" END")
  }
}

extension Querying where Self: ~Copyable {
  /// The rows of a query of which perhaps few are wanted: SQLite makes each as it is asked for.
  borrowing func walk(_ sql: SQL, expecting _: Int, _ body: (borrowing Row) throws -> Void) throws {
    try each(sql, body)
  }

  /// The next rows of a table, in the order of their numbers.
  borrowing func page(of table: String, from: Int64, step: Int) throws -> TablePage {
    let places: [Int64] = try all(
      "SELECT rowid FROM \(unsafeRawSQL: table) WHERE rowid >= \(from) ORDER BY rowid LIMIT \(step)"
    ) { try $0.integer(0) }
    guard let last = places.last else { return TablePage(count: 0, condition: "0", next: nil) }
    return TablePage(
      count: places.count, condition: "rowid >= \(from) AND rowid <= \(last)", next: last < .max ? last + 1 : nil)
  }

  /// Asks a question, whose answer costs too little here to be kept.
  borrowing func each(_ question: Question, _ body: (borrowing Row) throws -> Void) throws {
    try each(question.sql, body)
  }

  borrowing func value<Value: SQLDecodable>(_ question: Question) throws -> Value? { try value(question.sql) }
}

extension SQLiteStore {
  /// One transaction of the writer; asking costs no way here, so nothing is asked ahead.
  func transaction<Value: Sendable>(
    asking _: (@Sendable () -> [Question])?, thenAsking _: (@Sendable (borrowing ReadContext) throws -> [Question])?,
    _ body: @escaping @Sendable (borrowing WriteContext) throws -> Value
  ) async throws -> Value {
    try await database.write(body)
  }

  /// Nothing: each write needs room in the log, so one that is committed has shown that there is some.
  func requireRoom() async throws(StoreError) {}
}

extension WriteContext {
  /// The head of the audit log, when this transaction wrote it; not kept here, as asking costs too little.
  var writtenAuditHead: Stored<AuditHead>? { nil }

  borrowing func note(written _: Stored<AuditHead>) {}

  /// Runs a statement; nothing here was asked ahead that a touched row could make untrue.
  borrowing func run(_ sql: SQL, touching _: @autoclosure () -> TouchedRow) throws(SQLiteError) { try run(sql) }

  /// Runs a statement to its end and says how many rows it changed.
  borrowing func runCounting(_ sql: SQL) throws(SQLiteError) -> Int { try run(sql) }

  /// Changes one row; that another one changed it meanwhile is an error.
  borrowing func changeOne(
    _ sql: SQL, of table: String, touching _: @autoclosure () -> [TouchedRow]
  ) throws {
    guard try run(sql) == 1 else { throw StoreError.changedMeanwhile(what: table) }
  }

  /// Writes a row, also where one is that may be deleted for it.
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

  /// Writes a row unless it would be in another one's place, and says whether it did: `careful` writes nothing then.
  borrowing func insertNew(
    _ plain: String, _ careful: String, _ values: [SQLValue], touching _: @autoclosure () -> TouchedRow
  ) throws -> Bool {
    try run(SQL(unsafeRawSQL: careful, values)) == 1
  }
}
