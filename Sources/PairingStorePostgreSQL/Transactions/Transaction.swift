import PairingStore
import PostgreSQL
import RegentSQL

/// A transaction of the writer thread, which several write requests may share.
///
/// Only that thread uses it.
final class Transaction {
  private struct Pending {
    let sql: SQL
    /// Whether the statement inserts one new row.
    ///
    /// Adjacent inserts with the same text may be combined into one statement.
    var isRow = false
  }

  private let connection: Connection
  private let deadline: Deadline
  /// Whether several requests share the transaction.
  ///
  /// Then statements are not checked one by one, and an unexpected result rolls the whole transaction back.
  let isShared: Bool
  /// Statements that are not sent yet.
  ///
  /// They are sent with the next query or the COMMIT.
  private var pending: [Pending] = []
  /// The index of the present request's first unsent statement in `pending`.
  private var mark = 0
  private var hasSavepoint = false
  /// Whether a request has written something in this transaction; it stays true when the request is undone.
  private(set) var hasWritten = false
  /// The first failure of a statement.
  ///
  /// After it the transaction cannot be committed.
  private(set) var failure: PostgreSQLError?
  private var answers: Answers
  /// Whether the present request has cached a query result.
  ///
  /// The result may include the request's own writes.
  private var hasKept = false
  /// The head of the audit log as this transaction wrote it last; nil when it has not written it.
  var auditHead: Stored<AuditHead>?
  /// The upper bound of pending codes from the cluster's row; nil when they must be counted.
  var liveCodes: Int? { didSet { isLiveCodesChanged = true } }
  private var isLiveCodesChanged = false
  /// How this transaction changes the stored upper bounds of the numbers of pending codes, for each requestor.
  var ownLiveCodes = OwnLiveCodes()
  /// The changes that other nodes must read again.
  private var changes: [StoreChange] = []
  private var changesBefore = 0
  /// The number of the newest entry in the change log before this transaction.
  private let newestChange: Int64
  /// The number of this transaction's entry in the change log; nil when it has none.
  var changeNumber: Int64? { changes.isEmpty ? nil : newestChange + 1 }

  /// Begins the transaction and locks the cluster's row, so that no other transaction writes.
  ///
  /// The queries declared in advance run after the lock, so that their results cannot be outdated.
  init(_ connection: Connection, isShared: Bool, asking questions: [Question] = [], by deadline: Deadline) throws {
    self.connection = connection
    self.deadline = deadline
    self.isShared = isShared
    answers = Answers(to: questions)
    let results = try connection.run(
      ["BEGIN", "SELECT state, schema, live_codes, changes FROM cluster WHERE id = 1 FOR UPDATE"]
        + answers.statements, by: deadline)
    try answers.take(results.dropFirst(2))
    guard let cluster = results[1].first else {
      throw SchemaFailure.damaged("the row of the table “cluster” is missing")
    }
    newestChange = try cluster.integer(3)
    guard (0..<Int64.max).contains(newestChange) else {
      throw SchemaFailure.damaged("the table “cluster” says that its changes have come to number \(newestChange)")
    }
    try Schema.check(state: cluster.text(0), version: cluster.integer(1))
    liveCodes = try cluster.isNull(2) ? nil : Int(cluster.integer(2))
    isLiveCodesChanged = false
  }

  /// Runs the further queries that can be declared with the results so far, before anything is written.
  ///
  /// If a request fails to declare its queries, they run when the request needs them.
  func askAhead(_ more: [@Sendable (borrowing ReadContext) throws -> [Question]]) throws {
    let context = ReadContext(connection, knowing: answers, by: deadline)
    answers.ask(more.flatMap { (try? $0(context)) ?? [] })
    guard !answers.statements.isEmpty else { return }
    try answers.take(connection.run(answers.statements, by: deadline))
  }

  /// Sends the unsent statements and a query, unless the query's result is cached.
  func ask(_ sql: SQL) throws -> Rows {
    if failure == nil, let rows = answers.rows(of: sql) { return rows }
    return try send(sql, changing: false)
  }

  /// Sends the pending statements and a query like ``ask(_:)``, and caches the result.
  func ask(_ question: Question) throws -> Rows {
    if failure == nil, let rows = answers.rows(of: question.sql) { return rows }
    let rows = try send(question.sql, changing: false)
    answers.keep(rows, to: question)
    hasKept = true
    return rows
  }

  /// Sends the pending statements and `sql`, and returns how many rows `sql` changed.
  func change(_ sql: SQL, touching rows: [TouchedRow]?) throws -> Int {
    forget(rows)
    return try send(sql, changing: true).changed
  }

  private func send(_ sql: SQL, changing: Bool) throws -> Rows {
    if let failure { throw failure }
    try sql.requireKeepable()
    if changing { hasWritten = true }
    // From here on, the present request may have to be rolled back while the requests before it are kept.
    if isShared, !hasSavepoint, changing || pending.count > mark {
      pending.insert(Pending(sql: "SAVEPOINT request"), at: mark)
      hasSavepoint = true
    }
    do throws(PostgreSQLError) {
      let results = try connection.run(statements + [sql], by: deadline)
      pending = []
      mark = 0
      return results[results.count - 1]
    } catch {
      failure = error
      throw error
    }
  }

  /// The unsent statements in the form in which they are sent.
  private var statements: [SQL] {
    var statements: [SQL] = []
    var rest = pending[...]
    while let first = rest.first {
      let some = first.isRow ? rest.prefix { $0.isRow && $0.sql.text == first.sql.text } : rest.prefix(1)
      statements += BatchedStatements.inserts(some.map(\.sql)[...])
      rest = rest.dropFirst(some.count)
    }
    return statements
  }

  /// Removes the cached results that a write of these rows may have changed.
  ///
  /// Nil means that the rows are unknown; then all results are removed.
  private func forget(_ rows: [TouchedRow]?) {
    guard let rows else {
      auditHead = nil
      return answers.forgetAll()
    }
    for row in rows {
      answers.forget(row)
      if row.table == Tables.auditHead.name { auditHead = nil }
    }
  }

  /// Adds a statement to those that are sent later; `isRow` says that it inserts one new row.
  func later(_ sql: SQL, touching rows: [TouchedRow]?, isRow: Bool = false) throws {
    if let failure { throw failure }
    try sql.requireKeepable()
    forget(rows)
    hasWritten = true
    pending.append(Pending(sql: sql, isRow: isRow))
  }

  /// Adds a change that other nodes must read.
  ///
  /// It is stored if the transaction commits.
  func note(_ change: StoreChange) { changes.append(change) }

  /// Notes what the transaction holds before the next request writes, so that this request alone can be undone.
  func beginRequest() {
    mark = pending.count
    changesBefore = changes.count
    hasSavepoint = false
    hasKept = false
  }

  /// Called when a request of this transaction has succeeded.
  func endRequest() {
    if hasSavepoint { pending.append(Pending(sql: "RELEASE SAVEPOINT request")) }
  }

  /// Undoes what the present request wrote.
  func undoRequest() {
    if hasKept { answers.forgetAll() }
    auditHead = nil
    changes.removeSubrange(changesBefore...)
    if hasSavepoint, mark == 0 {
      // The savepoint of the present request was already sent, so all unsent statements belong to this request.
      pending = [Pending(sql: "ROLLBACK TO SAVEPOINT request"), Pending(sql: "RELEASE SAVEPOINT request")]
    } else {
      pending.removeSubrange(mark...)
    }
  }

  /// Sends the unsent statements, the change log entry and the transaction's number, and commits.
  func commit(_ number: SQL, of lane: Int64 = 0) -> CommitOutcome {
    if let failure { return .notCommitted(failure) }
    var rest = statements + ownLiveCodes.statements
    if let changeNumber {
      rest += [
        "INSERT INTO change (n, lane, what) VALUES (\(changeNumber), \(lane), \(ChangeLog.text(of: Set(changes))))",
        "UPDATE cluster SET live_codes = \(liveCodes.sqlValue), changes = \(changeNumber) WHERE id = 1",
      ]
    } else if isLiveCodesChanged {
      rest.append("UPDATE cluster SET live_codes = \(liveCodes.sqlValue) WHERE id = 1")
    }
    return connection.commit(after: rest + [number], by: deadline)
  }

  /// Rolls the transaction back.
  ///
  /// If that fails, closes the connection, which has the same effect.
  func rollBack() { connection.undo(by: deadline) }
}
