/// A read in progress: everything asked through it sees the database as it was at one moment.
public struct ReadContext: ~Copyable, Querying {
  let connection: Connection

  /// Runs a statement and hands each row to `body`, in order.
  public borrowing func each(_ sql: SQL, _ body: (borrowing Row) throws -> Void) throws {
    try connection.each(sql, body)
  }
}

/// A write in progress.
///
/// It sees its own changes; nobody else sees them before the answer is released.
///
/// The transaction belongs to the writer: `BEGIN`, `COMMIT`, `SAVEPOINT`, `ATTACH` and `PRAGMA` are refused here.
public struct WriteContext: ~Copyable, Querying {
  let connection: Connection

  /// Runs a statement and hands each row to `body`, in order; `RETURNING` gives rows too.
  public borrowing func each(_ sql: SQL, _ body: (borrowing Row) throws -> Void) throws {
    try connection.each(sql, body)
  }

  /// Runs a statement to its end.
  ///
  /// - Parameter sql: the statement and its values.
  /// - Returns: how many rows it inserted, updated or deleted, without triggers and cascades.
  /// - Throws: the failure; catching it and going on is allowed, the statement then changed nothing.
  @discardableResult
  public borrowing func run(_ sql: SQL) throws(SQLiteError) -> Int {
    try connection.run(sql)
  }

  /// Whether something that was done in this transaction so far, by this request or another, moves ``Database/mark`` on
  /// when it is committed.
  public var movesMark: Bool { connection.state.hasChangedRows }

  /// Runs a text of several statements that stands in the source, for migrations.
  ///
  /// - Parameter script: statements without values.
  /// - Throws: the failure of one of them.
  public borrowing func runScript(_ script: StaticString) throws(SQLiteError) {
    try connection.runScript(script)
  }
}
