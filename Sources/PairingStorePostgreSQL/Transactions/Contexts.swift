import PairingStore
package import PostgreSQL
package import RegentSQL

/// What both a read and a write can do: ask.
package protocol Querying: ~Copyable {
  /// The rows that a statement gives.
  func ask(_ sql: SQL) throws -> PostgreSQL.Rows

  /// The same of a question whose answer may be kept.
  func ask(_ question: Question) throws -> PostgreSQL.Rows
}

/// A read in progress: everything asked through it sees the database as it was at one moment.
package final class ReadContext: Querying {
  private let connection: Connection
  private let deadline: () -> Deadline
  /// Whether its transaction has begun, which it does with the first question.
  private(set) var hasBegun = false
  /// The first failure: what is asked afterwards fails as well, and a "no" that came of it is no answer.
  private(set) var failure: PostgreSQLError?
  /// What the reads that share it have asked so far; `nil` where each question is asked when it is put.
  private var answers: Answers?
  /// What they ask next.
  private var wanted: [Question] = []
  /// Whether the present one stopped at a question.
  private(set) var isStopped = false

  /// `isShared` says that several reads are run in it, over and over, each until it asks what nobody has asked yet
  /// (``fetch()``).
  init(_ connection: Connection, isShared: Bool = false, by deadline: Deadline) {
    self.connection = connection
    self.deadline = { deadline }
    answers = isShared ? Answers(to: []) : nil
  }

  /// One that knows some answers and is stopped by what is not among them: for naming what is asked with these.
  init(_ connection: Connection, knowing answers: Answers, by deadline: Deadline) {
    self.connection = connection
    self.deadline = { deadline }
    self.answers = answers
  }

  /// One within a transaction that is open, whose questions are many: each may take so long.
  init(within connection: Connection, patience: Duration) {
    self.connection = connection
    deadline = { .after(patience) }
    hasBegun = true
  }

  /// The server's process for this connection, as it was named when it was opened.
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

  /// From here on another read asks.
  func beginRead() { isStopped = false }

  /// Asks what the reads that share it have stopped at, each question once.
  func fetch() throws {
    answers?.ask(wanted)
    wanted = []
    let statements = answers?.statements ?? []
    let results = try send(statements)
    try answers?.take(results)
  }

  /// Ends it; a connection that cannot is closed.
  func end() {
    connection.undo(by: deadline())
  }

  /// What keeps a read from going on until its question is answered.
  private struct Stopped: Error {}
}

/// A write in progress.
///
/// It sees its own changes; nobody else sees them before the answer is released. Statements that change something are
/// kept until the next question and go out with it, the last of them with the COMMIT.
package final class WriteContext: Querying {
  let transaction: Transaction

  init(_ transaction: Transaction) { self.transaction = transaction }

  package func ask(_ sql: SQL) throws -> PostgreSQL.Rows { try transaction.ask(sql) }

  package func ask(_ question: Question) throws -> PostgreSQL.Rows { try transaction.ask(question) }

  /// Runs a statement of which nobody asks what it changed.
  package func run(_ sql: SQL) throws { try transaction.later(sql, touching: nil) }

  /// The same, when it is known which rows it writes or deletes: other answers stand.
  func run(_ sql: SQL, touching row: TouchedRow) throws { try transaction.later(sql, touching: [row]) }

  /// Runs a statement and says how many rows it changed.
  func runCounting(_ sql: SQL) throws -> Int { try transaction.change(sql, touching: nil) }

  /// Changes one row; that another one changed it meanwhile is an error.
  ///
  /// A shared transaction leaves it to the database to fail then: it is undone, and each request has one of its own.
  func changeOne(_ sql: SQL, of table: String, touching rows: [TouchedRow]) throws {
    guard transaction.isShared else {
      guard try transaction.change(sql, touching: rows) == 1 else { throw StoreError.changedMeanwhile(what: table) }
      return
    }
    try transaction.later(
      "WITH changed AS (\(part: sql) RETURNING 1) SELECT 1 / count(*) FROM changed", touching: rows)
  }

  /// Writes a row, also where one is that may be deleted for it.
  func insert(_ insert: SQL, inPlaceOf delete: @autoclosure () -> SQL, touching row: TouchedRow) throws {
    // Not the other way round: a statement that fails would take the transaction with it. In a shared one it may, as
    // there is hardly ever a row: then each request has one of its own.
    if !transaction.isShared { try transaction.later(delete(), touching: nil) }
    try transaction.later(insert, touching: [row], isRow: true)
  }

  /// Writes a row unless it would be in another one's place: `plain` fails then, `careful` writes nothing.
  ///
  /// Whether it was written is believed in a shared transaction, as it nearly always is; when it is not so, the
  /// transaction is undone, and each request has one of its own.
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
  /// Runs a statement and hands each row to `body`, in order.
  package borrowing func each(_ sql: SQL, _ body: (borrowing Row) throws -> Void) throws {
    for row in try ask(sql) { try body(row) }
  }

  borrowing func each(_ question: Question, _ body: (borrowing Row) throws -> Void) throws {
    for row in try ask(question) { try body(row) }
  }

  /// All rows, each turned into a value.
  package borrowing func all<Value>(_ sql: SQL, _ decode: (borrowing Row) throws -> Value) throws -> [Value] {
    var values: [Value] = []
    try each(sql) { values.append(try decode($0)) }
    return values
  }

  /// The first column of the first row, or nil when there is no row.
  borrowing func value<Value: SQLDecodable>(_ sql: SQL, as type: Value.Type = Value.self) throws -> Value? {
    try ask(sql).first.map { try Value(row: $0, column: 0) }
  }

  borrowing func value<Value: SQLDecodable>(_ question: Question) throws -> Value? {
    try ask(question).first.map { try Value(row: $0, column: 0) }
  }

  /// Whether there is a row.
  borrowing func exists(_ sql: SQL) throws -> Bool { try !ask(sql).isEmpty }

  /// The rows of a query in an order of its own, of which perhaps few are wanted: fetched a page at a time.
  ///
  /// All pages are of the same moment: in a read that is so anyway, and a write is the only one.
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

  /// The next rows of a table, as they lie in it.
  ///
  /// `step` is about how many. The place is the number of a block, whatever is in it.
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
/// About so many rows are in a block of 8 KiB.
private let rowsInBlock = 16
