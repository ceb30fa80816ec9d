import PairingStore
package import PostgreSQL
package import RegentSQL

package protocol Querying: ~Copyable {
  func ask(_ sql: SQL) throws -> PostgreSQL.Rows

  /// Runs a query whose result the transaction may cache.
  func ask(_ question: Question) throws -> PostgreSQL.Rows
}

/// A read transaction.
///
/// All its queries see the database as of one moment.
package final class ReadContext: Querying {
  private let connection: Connection
  private let deadline: () -> Deadline
  /// Whether the database transaction has begun.
  ///
  /// It begins with the first query.
  private(set) var hasBegun = false
  /// The first failure of a query.
  ///
  /// Later queries fail as well, and a negative result that comes from the failure must not be used.
  private(set) var failure: PostgreSQLError?
  /// The results of the queries that the reads sharing this transaction have run; nil when each query runs at once.
  private var answers: Answers?
  /// The queries that the reads sharing this transaction need next.
  private var wanted: [Question] = []
  /// Whether the present read stopped because the result of a query is missing.
  private(set) var isStopped = false

  /// Makes a read transaction that begins with its first query.
  ///
  /// With `isShared`, several reads run in it repeatedly, each until it needs a query whose result is missing
  /// (``fetch()``).
  init(_ connection: Connection, isShared: Bool = false, by deadline: Deadline) {
    self.connection = connection
    self.deadline = { deadline }
    answers = isShared ? Answers(to: []) : nil
  }

  /// Makes a context that only has the given results; a read that needs another one stops.
  ///
  /// It serves to find out which further queries a store operation can declare in advance.
  init(_ connection: Connection, knowing answers: Answers, by deadline: Deadline) {
    self.connection = connection
    self.deadline = { deadline }
    self.answers = answers
  }

  /// Makes a context within an open transaction with many queries.
  ///
  /// Each query may take up to `patience`.
  init(within connection: Connection, patience: Duration) {
    self.connection = connection
    deadline = { .after(patience) }
    hasBegun = true
  }

  /// The process number of the server connection, as the server reported it when the connection was opened.
  var backend: Int32 { connection.backend }

  package func ask(_ sql: SQL) throws -> PostgreSQL.Rows {
    if let failure { throw failure }
    try sql.requireKeepable()
    guard let answers else { return try send([sql])[0] }
    if let rows = answers.rows(of: sql) { return rows }
    isStopped = true
    wanted.append(Question(sql: sql, table: "", columns: nil))
    throw Stopped()
  }

  package func ask(_ question: Question) throws -> PostgreSQL.Rows { try ask(question.sql) }

  private func send(_ questions: [SQL]) throws(PostgreSQLError) -> [PostgreSQL.Rows] {
    let opening: [SQL] = hasBegun ? [] : ["BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"]
    do throws(PostgreSQLError) {
      let results = try connection.run(opening + questions, by: deadline())
      hasBegun = true
      return Array(results.dropFirst(opening.count))
    } catch {
      failure = error
      throw error
    }
  }

  /// Prepares the shared transaction for the next read.
  func beginRead() { isStopped = false }

  /// Runs the queries whose missing results have stopped the reads, equal ones once.
  func fetch() throws {
    answers?.ask(wanted)
    wanted = []
    let statements = answers?.statements ?? []
    let results = try send(statements)
    try answers?.take(results)
  }

  /// Ends the database transaction.
  ///
  /// If that fails, it closes the connection.
  func end() {
    connection.undo(by: deadline())
  }

  /// Thrown to stop a read until the result of its query has been fetched.
  private struct Stopped: Error {}
}

/// A write transaction.
///
/// It sees its own changes, which become visible to others with the COMMIT. Statements that change rows are collected
/// and sent together with the next query, the last ones with the COMMIT.
package final class WriteContext: Querying {
  let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  package func ask(_ sql: SQL) throws -> PostgreSQL.Rows { try transaction.ask(sql) }

  package func ask(_ question: Question) throws -> PostgreSQL.Rows { try transaction.ask(question) }

  /// Runs a statement without reporting how many rows it changed.
  package func run(_ sql: SQL) throws { try transaction.later(sql, touching: nil) }

  /// Runs a statement like `run`, but tells which rows it writes or deletes, so that cached results about other rows
  /// stay valid.
  func run(_ sql: SQL, touching row: TouchedRow) throws { try transaction.later(sql, touching: [row]) }

  func runCounting(_ sql: SQL) throws -> Int { try transaction.change(sql, touching: nil) }

  /// Changes one row; throws `changedMeanwhile` when the row has changed since it was read.
  ///
  /// In a shared transaction the statement itself fails in that case. The transaction is rolled back, and each request
  /// runs alone.
  func changeOne(_ sql: SQL, of table: String, touching rows: [TouchedRow]) throws {
    guard transaction.isShared else {
      guard try transaction.change(sql, touching: rows) == 1 else { throw StoreError.changedMeanwhile(what: table) }
      return
    }
    try transaction.later(
      "WITH changed AS (\(part: sql) RETURNING 1) SELECT 1 / count(*) FROM changed", touching: rows)
  }

  /// Inserts a row, and deletes a row with the same key before that.
  func insert(_ insert: SQL, inPlaceOf delete: @autoclosure () -> SQL, touching row: TouchedRow) throws {
    // The row cannot be deleted after a failed INSERT, because a failed statement aborts the transaction. In a shared
    // transaction the row is inserted without deleting first, because a conflict is rare. After a conflict each request
    // runs alone.
    if !transaction.isShared { try transaction.later(delete(), touching: nil) }
    try transaction.later(insert, touching: [row], isRow: true)
  }

  /// Inserts a row unless it conflicts with an existing one: on a conflict the statement `plain` fails and `careful`
  /// writes nothing.
  ///
  /// A shared transaction assumes that there is no conflict, which is nearly always true, and sends `plain`. After a
  /// conflict it is rolled back, and each request runs alone.
  func insertNew(
    _ plain: String, _ careful: String, _ values: [SQLValue], touching row: TouchedRow
  ) throws -> Bool {
    guard transaction.isShared else {
      return try transaction.change(SQL(unsafeRawSQL: careful, values), touching: [row]) == 1
    }
    try transaction.later(SQL(unsafeRawSQL: plain, values), touching: [row], isRow: true)
    return true
  }
}

extension Querying where Self: ~Copyable {
  /// Runs a query and passes each row to `body`, in order.
  package borrowing func each(_ sql: SQL, _ body: (borrowing Row) throws -> Void) throws {
    for row in try ask(sql) { try body(row) }
  }

  borrowing func each(_ question: Question, _ body: (borrowing Row) throws -> Void) throws {
    for row in try ask(question) { try body(row) }
  }

  package borrowing func all<Value>(_ sql: SQL, _ decode: (borrowing Row) throws -> Value) throws -> [Value] {
    var values: [Value] = []
    try each(sql) { values.append(try decode($0)) }
    return values
  }

  /// The first column of the query's first row; nil when the query finds no row.
  borrowing func value<Value: SQLDecodable>(_ sql: SQL, as type: Value.Type = Value.self) throws -> Value? {
    try ask(sql).first.map { try Value(row: $0, column: 0) }
  }

  borrowing func value<Value: SQLDecodable>(_ question: Question) throws -> Value? {
    try ask(question).first.map { try Value(row: $0, column: 0) }
  }

  borrowing func exists(_ sql: SQL) throws -> Bool { try !ask(sql).isEmpty }

  /// Passes the rows of a sorted query to `body`, fetching them in pages, because the caller may need only a few.
  ///
  /// All pages show the same moment: a read transaction has a snapshot, and only one transaction writes at a time.
  borrowing func walk(_ sql: SQL, expecting count: Int, _ body: (borrowing Row) throws -> Void) throws {
    var size = min(max(count, 1), walkedAtOnce)
    var seen = 0
    while true {
      let page = try ask("\(part: sql) LIMIT \(size) OFFSET \(seen)")
      for row in page { try body(row) }
      guard page.count == size else { return }
      seen += size
      size = min(2 * size, walkedAtOnce)
    }
  }

  /// Reads the next rows of a table in their physical order.
  ///
  /// `from` is a block number, and `step` is approximately the number of rows.
  borrowing func page(of table: String, from: Int64, step: Int) throws -> TablePage {
    let first = max(0, from)
    let size: Int64 = try value("SELECT pg_relation_size(CAST(CAST(\(table) AS TEXT) AS REGCLASS)) / 8192") ?? 0
    guard first < size else { return TablePage(count: 0, condition: "false", next: nil) }
    let next = min(size, first + Int64(max(1, step / rowsInBlock)))
    let condition: SQL = """
      ctid >= CAST(CAST(\("(\(first),0)") AS TEXT) AS TID) AND ctid < CAST(CAST(\("(\(next),0)") AS TEXT) AS TID)
      """
    let count: Int = try value("SELECT count(*) FROM \(unsafeRawSQL: table) WHERE \(part: condition)") ?? 0
    return TablePage(count: count, condition: condition, next: next)
  }
}

private let walkedAtOnce = 2_048
/// The approximate number of rows in a block of 8 KiB.
private let rowsInBlock = 16
