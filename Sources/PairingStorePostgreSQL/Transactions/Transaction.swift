import PairingStore
import PostgreSQL
import RegentSQL

/// A transaction of the lane, in which several requests may write.
///
/// Lives on the lane's thread.
final class Transaction {
  /// A statement that waits to be sent.
  private struct Pending {
    let sql: SQL
    /// Whether it writes one new row, and those of one text that follow each other may be written by one statement.
    var isRow = false
  }

  private let connection: Connection
  private let deadline: Deadline
  /// Whether what a statement came to is left to the database to judge: a surprise then undoes the whole of it.
  let isShared: Bool
  /// What was written and not sent yet, for the next question or the COMMIT.
  private var pending: [Pending] = []
  /// Where the pending statements of the present request begin.
  private var mark = 0
  private var hasSavepoint = false
  /// Whether there is anything to commit, undone or not.
  private(set) var hasWritten = false
  /// The first failure: the transaction cannot be committed after it.
  private(set) var failure: PostgreSQLError?
  private var answers: Answers
  /// Whether the present request has asked something that is kept: it may have seen what the request itself wrote.
  private var hasKept = false
  /// The head of the audit log, as this transaction wrote it last.
  var auditHead: Stored<AuditHead>?
  /// How many codes may be live at most, as the cluster's row says; `nil` when they must be counted.
  var liveCodes: Int? { didSet { isLiveCodesChanged = true } }
  private var isLiveCodesChanged = false
  /// What is to be known of the live codes of single requestors.
  var ownLiveCodes = OwnLiveCodes()
  /// What other nodes have to look at anew, and how much of it is of the requests before the present one.
  private var changes: [StoreChange] = []
  private var changesBefore = 0
  /// The number of the newest change in the log, before this one.
  private let newestChange: Int64
  /// The number under which this one is in the log; `nil` when nobody has to look at anything.
  var changeNumber: Int64? { changes.isEmpty ? nil : newestChange + 1 }

  /// Begins it, as the only one that writes in the cluster, and asks what is named ahead: after the cluster's row, so
  /// that each answer is of this transaction's own time.
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

  /// Asks what can be named with the answers that are there, before anything is written.
  ///
  /// Who cannot name it, for whatever reason, asks when it wants to know.
  func askAhead(_ more: [@Sendable (borrowing ReadContext) throws -> [Question]]) throws {
    let context = ReadContext(connection, knowing: answers, by: deadline)
    answers.ask(more.flatMap { (try? $0(context)) ?? [] })
    guard !answers.statements.isEmpty else { return }
    try answers.take(connection.run(answers.statements, by: deadline))
  }

  /// Asks, with everything before it, unless the answer is there.
  func ask(_ sql: SQL) throws -> Rows {
    if failure == nil, let rows = answers.rows(of: sql) { return rows }
    return try send(sql, changing: false)
  }

  /// The same, and keeps the answer.
  func ask(_ question: Question) throws -> Rows {
    if failure == nil, let rows = answers.rows(of: question.sql) { return rows }
    let rows = try send(question.sql, changing: false)
    answers.keep(rows, to: question)
    hasKept = true
    return rows
  }

  /// Changes something, with everything before it, and says how many rows that were.
  func change(_ sql: SQL, touching rows: [TouchedRow]?) throws -> Int {
    forget(rows)
    return try send(sql, changing: true).changed
  }

  private func send(_ sql: SQL, changing: Bool) throws -> Rows {
    if let failure { throw failure }
    try sql.requireKeepable()
    if changing { hasWritten = true }
    // What the request has written by then may have to be undone without the requests before it.
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

  /// What waits, as it is sent.
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

  /// No answer stands that these rows may have changed; `nil` when it is not known which they are.
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

  /// Keeps a statement for later; `isRow` says that it writes one new row.
  func later(_ sql: SQL, touching rows: [TouchedRow]?, isRow: Bool = false) throws {
    if let failure { throw failure }
    try sql.requireKeepable()
    forget(rows)
    hasWritten = true
    pending.append(Pending(sql: sql, isRow: isRow))
  }

  /// Tells other nodes, if this is committed.
  func note(_ change: StoreChange) { changes.append(change) }

  /// From here on another request writes.
  func beginRequest() {
    mark = pending.count
    changesBefore = changes.count
    hasSavepoint = false
    hasKept = false
  }

  /// What the request wrote stays.
  func endRequest() {
    if hasSavepoint { pending.append(Pending(sql: "RELEASE SAVEPOINT request")) }
  }

  /// What the request wrote goes.
  func undoRequest() {
    if hasKept { answers.forgetAll() }
    auditHead = nil
    changes.removeSubrange(changesBefore...)
    if hasSavepoint, mark == 0 {
      // Sent: what is pending is all its own.
      pending = [Pending(sql: "ROLLBACK TO SAVEPOINT request"), Pending(sql: "RELEASE SAVEPOINT request")]
    } else {
      pending.removeSubrange(mark...)
    }
  }

  /// Sends the rest with the number of this transaction in its lane and what others must look at, and commits.
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

  /// Undoes all of it; a connection that cannot is closed, which undoes it as well.
  func rollBack() { connection.undo(by: deadline) }
}
