/// The statements that surround requests, prepared once: they run for every request.
struct Transaction: ~Copyable {
  private let begin: Statement
  private let commit: Statement
  private let rollback: Statement
  private let savepoint: Statement
  private let release: Statement
  private let rollbackToSavepoint: Statement

  init(on connection: borrowing Connection) throws(SQLiteError) {
    // IMMEDIATE: a transaction that reads first and writes later would meet SQLITE_BUSY_SNAPSHOT at once, whatever the
    // busy timeout is.
    begin = try connection.prepared("BEGIN IMMEDIATE")
    commit = try connection.prepared("COMMIT")
    rollback = try connection.prepared("ROLLBACK")
    savepoint = try connection.prepared("SAVEPOINT request")
    release = try connection.prepared("RELEASE request")
    rollbackToSavepoint = try connection.prepared("ROLLBACK TO request")
  }

  borrowing func beginNow() throws(SQLiteError) { try begin.runToEnd() }
  borrowing func commitNow() throws(SQLiteError) { try commit.runToEnd() }
  borrowing func rollbackNow() throws(SQLiteError) { try rollback.runToEnd() }
  borrowing func openSavepoint() throws(SQLiteError) { try savepoint.runToEnd() }
  borrowing func closeSavepoint() throws(SQLiteError) { try release.runToEnd() }

  borrowing func undoToSavepoint() throws(SQLiteError) {
    try rollbackToSavepoint.runToEnd()
    try release.runToEnd()
  }
}

extension Connection {
  fileprivate borrowing func prepared(_ sql: StaticString) throws(SQLiteError) -> Statement {
    try Statement(sql.description, on: handle, kept: true)
  }
}
