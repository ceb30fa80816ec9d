/// The prepared statements that begin and end transactions and savepoints.
///
/// They run for every request.
struct Transaction {
  private let begin: StatementCache.Entry
  private let commit: StatementCache.Entry
  private let rollback: StatementCache.Entry
  private let savepoint: StatementCache.Entry
  private let release: StatementCache.Entry
  private let rollbackToSavepoint: StatementCache.Entry

  init(on connection: borrowing Connection) throws(SQLiteError) {
    // The transaction begins with IMMEDIATE. Otherwise, one that reads first and writes later could fail with
    // SQLITE_BUSY_SNAPSHOT at once, without waiting for the busy timeout.
    begin = try connection.prepared("BEGIN IMMEDIATE")
    commit = try connection.prepared("COMMIT")
    rollback = try connection.prepared("ROLLBACK")
    savepoint = try connection.prepared("SAVEPOINT request")
    release = try connection.prepared("RELEASE request")
    rollbackToSavepoint = try connection.prepared("ROLLBACK TO request")
  }

  func beginNow() throws(SQLiteError) { try begin.statement.runToEnd() }
  func commitNow() throws(SQLiteError) { try commit.statement.runToEnd() }
  func rollbackNow() throws(SQLiteError) { try rollback.statement.runToEnd() }
  func openSavepoint() throws(SQLiteError) { try savepoint.statement.runToEnd() }
  func closeSavepoint() throws(SQLiteError) { try release.statement.runToEnd() }

  func undoToSavepoint() throws(SQLiteError) {
    try rollbackToSavepoint.statement.runToEnd()
    try release.statement.runToEnd()
  }
}

extension Connection {
  fileprivate func prepared(_ sql: StaticString) throws(SQLiteError) -> StatementCache.Entry {
    StatementCache.Entry(unsafe try Statement(sql.description, on: handle, kept: true))
  }
}
