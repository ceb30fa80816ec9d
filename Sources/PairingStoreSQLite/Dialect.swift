import PairingStore
import RegentJSON
package import SQLite

// Maps the names that the shared store operations use to SQLite's; see PairingStoreRows.

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
  /// A LIMIT that limits nothing.
  ///
  /// SQLite allows OFFSET only after a LIMIT.
  static let noLimit = "LIMIT -1"
  /// The SQL expression for the bytes of a provider's name, in hexadecimal.
  static let providerInHex = "hex(provider)"
  /// The SQL expression for a provider's name that SQLite's planner cannot use an index for.
  ///
  /// With that index, SQLite would sort all remaining rows for each page. The plus sign prevents it.
  static let providerWithoutIndex: StaticString = "+provider"

  /// The expression by which an index contains a long text; nil, because SQLite's indexes contain long texts as they
  /// are.
  static func hash(of _: String) -> String? { nil }
}

extension SQL.StringInterpolation {
  /// Writes the condition that a column equals one of these names.
  ///
  /// The SQL text is the same for any number of names.
  mutating func appendInterpolation(_ column: StaticString, among names: [String]) {
    appendLiteral(column)
    appendLiteral(" IN (SELECT value FROM json_each(")
    appendInterpolation(JSONValue.array(names.map(JSONValue.string)).description)
    appendLiteral("))")
  }

  /// Writes an SQL condition: the row's device description has the given visitor id.
  mutating func appendInterpolation(about visitorID: String) {
    // SQLite's JSON functions cut a text at a NUL character, so an id that contains one could match a wrong row.
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

  /// Reads the next rows of a table, sorted by rowid.
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
  /// Its result is not cached, because a query inside the process costs too little.
  borrowing func each(_ question: Question, _ body: (borrowing Row) throws -> Void) throws {
    try each(question.sql, body)
  }

  borrowing func value<Value: SQLDecodable>(_ question: Question) throws -> Value? { try value(question.sql) }
}

extension SQLiteStore {
  /// Runs a transaction on the writer thread.
  ///
  /// It does not run the declared queries in advance: SQLite runs inside the process, so a query needs no round trip.
  func transaction<Value: Sendable>(
    asking _: (@Sendable () -> [Question])?, thenAsking _: (@Sendable (borrowing ReadContext) throws -> [Question])?,
    _ body: @escaping @Sendable (borrowing WriteContext) throws -> Value
  ) async throws -> Value {
    try await database.write(body)
  }

  /// Does nothing.
  ///
  /// On SQLite the last committed write has shown that the disk has space, because every write needs space in the
  /// write-ahead log.
  func requireRoom() async throws(StoreError) {}
}

extension WriteContext {
  /// The head of the audit log as this transaction has written it.
  ///
  /// Always nil on SQLite, where reading it again costs too little to cache it.
  var writtenAuditHead: Stored<AuditHead>? { nil }

  borrowing func note(written _: Stored<AuditHead>) {}

  /// Runs a statement.
  ///
  /// The touched row is ignored: no query was run in advance, so no cached result could become stale.
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
  /// If the INSERT violates a constraint, it deletes the conflicting row and inserts again.
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

  /// Inserts a row unless it conflicts with an existing one.
  ///
  /// Returns whether the row was inserted. `careful` is the INSERT that writes nothing on a conflict.
  borrowing func insertNew(
    _ plain: String, _ careful: String, _ values: [SQLValue], touching _: @autoclosure () -> TouchedRow
  ) throws -> Bool {
    try run(SQL(unsafeRawSQL: careful, values)) == 1
  }
}
