/// A read transaction: all its statements see the database as it was at one moment.
public struct ReadContext: ~Copyable, Querying {
  let connection: Connection

  /// Runs a statement and hands each row to `body`, in order.
  public borrowing func each(_ sql: SQL, _ body: (borrowing Row) throws -> Void) throws {
    try connection.each(sql, body)
  }
}

/// An open write transaction, which other requests may share.
///
/// A request sees its own changes and those of requests that ran before it in the same transaction. Readers see none of
/// them before the commit.
///
/// The writer thread begins and ends the transaction: `BEGIN`, `COMMIT`, `SAVEPOINT`, `ATTACH` and `PRAGMA` are refused
/// here.
public struct WriteContext: ~Copyable, Querying {
  let connection: Connection

  /// Runs a statement and hands each row to `body`, in order; `RETURNING` gives rows too.
  public borrowing func each(_ sql: SQL, _ body: (borrowing Row) throws -> Void) throws {
    try connection.each(sql, body)
  }

  /// Runs a statement to its end.
  ///
  /// - Returns: how many rows the statement inserted, updated or deleted, without triggers and cascades.
  /// - Throws: the failure. The caller may catch it and go on, because the failed statement changed nothing.
  @discardableResult
  public borrowing func run(_ sql: SQL) throws(SQLiteError) -> Int {
    try connection.run(sql)
  }

  /// Whether the commit of the open transaction will advance ``Database/mark``, because of this request's changes or
  /// those of another request in the same transaction.
  public var movesMark: Bool { connection.state.hasChangedRows }

  /// Runs a script of several statements without parameters, for migrations.
  ///
  /// It must be a literal in the source.
  public borrowing func runScript(_ script: StaticString) throws(SQLiteError) {
    try connection.runScript(script)
  }
}
