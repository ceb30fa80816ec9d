import CSQLite

/// An open SQLite connection, closed on deinit.
///
/// Only one thread at a time may use it.
@safe struct Connection: ~Copyable {
  enum Role { case writer, reader, backup }

  let handle: OpaquePointer
  /// The state of the connection that C callbacks and borrowed contexts use too.
  let state: ConnectionState
  let interrupter: Interrupter

  /// Opens a database file.
  ///
  /// `beforeUse` runs before the first statement.
  static func open(
    _ path: String, role: Role, fileLayer: String? = nil,
    beforeUse: (borrowing Connection) throws(SQLiteError) -> Void = { _ throws(SQLiteError) in }
  ) throws(SQLiteError) -> Connection {
    SQLiteLibrary.prepare()
    // SQLite would treat a path of any other form as a URI, a temporary database or another file.
    guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
      throw SQLiteError(code: .cannotOpen, message: "an absolute path is needed")
    }
    let connection = try open(named: path, role: role, fileLayer: fileLayer)
    try beforeUse(connection)
    try connection.configure(role)
    return connection
  }

  /// Opens a database that exists only in memory.
  static func inMemory() throws(SQLiteError) -> Connection {
    SQLiteLibrary.prepare()
    let connection = try open(named: ":memory:", role: .writer, fileLayer: nil)
    try connection.configure(.writer)
    return connection
  }

  private static func open(
    named path: String, role: Role, fileLayer: String?
  ) throws(SQLiteError) -> Connection {
    // NOMUTEX: SQLite's own lock is not needed, because only one thread at a time uses a connection.
    // NOFOLLOW: an attacker who plants a symbolic link at the path must not make the service write elsewhere.
    let access = role == .writer ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY
    let flags =
      access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
      | SQLITE_OPEN_PRIVATECACHE
    var made: OpaquePointer?
    let code = unsafe sqlite3_open_v2(path, &made, flags, fileLayer)
    guard code == SQLITE_OK, let made = unsafe made else {
      // sqlite3_open_v2 may return a handle even when it fails; SQLite's manual says to close it.
      let error = unsafe SQLiteError(of: made, code: code)
      unsafe sqlite3_close_v2(made)
      throw error
    }
    return unsafe Connection(owning: made)
  }

  private init(owning handle: OpaquePointer) {
    unsafe self.handle = unsafe handle
    state = ConnectionState()
    interrupter = unsafe Interrupter(handle)
  }

  deinit {
    interrupter.forget()
    state.statements.removeAll()
    // After a fatal error the log must not be copied into the database. The next opening recovers it.
    if state.fatal != nil { keepLogWhenClosing() }
    unsafe sqlite3_close_v2(handle)
  }
}

extension Connection {
  /// Runs a statement and passes each row to `body`.
  borrowing func each(_ sql: SQL, _ body: (borrowing Row) throws -> Void) throws {
    let entry = try begin(sql)
    defer { state.statements.giveBack(entry) }
    while try step(entry) { try body(entry.statement.row) }
  }

  /// Runs a statement to its end.
  ///
  /// - Returns: the number of rows that the statement itself changed, without those that triggers and cascades changed.
  @discardableResult
  borrowing func run(_ sql: SQL) throws(SQLiteError) -> Int {
    let entry = try begin(sql)
    defer { state.statements.giveBack(entry) }
    let before = unsafe sqlite3_total_changes64(handle)
    while try step(entry) {}
    // sqlite3_changes still has the count of an earlier INSERT, UPDATE or DELETE, if this statement changed nothing. It
    // belongs to this statement only if the total has grown.
    guard unsafe sqlite3_total_changes64(handle) != before else { return 0 }
    return Int(unsafe sqlite3_changes64(handle))
  }

  /// Runs a script of several statements, which must be a literal in the source.
  borrowing func runScript(_ script: StaticString) throws(SQLiteError) {
    let text = script.description
    try refuseOutsideTransaction(text)
    state.hasWritten = true
    let code = unsafe sqlite3_exec(handle, text, nil, nil, nil)
    guard code == SQLITE_OK else {
      throw noted(unsafe SQLiteError(of: handle, code: code, sql: text))
    }
  }

  /// The first column of a statement's first row, for pragmas and counts.
  borrowing func value<Value: SQLDecodable>(
    _ sql: SQL, as type: Value.Type = Value.self
  ) throws(SQLiteError) -> Value? {
    let entry = try begin(sql)
    defer { state.statements.giveBack(entry) }
    guard try step(entry) else { return nil }
    return try entry.statement.row.get(0)
  }

  /// Ends the read transaction, even after one of its statements was interrupted.
  borrowing func endRead() {
    // SQLite refuses COMMIT while the interrupt of a closing database is pending, but never refuses ROLLBACK.
    unsafe sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
  }

  var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

  /// Whether a deferred foreign key is violated now.
  ///
  /// `COMMIT` would then fail for every request in the transaction.
  var hasBrokenDeferredReferences: Bool {
    var now: Int32 = 0
    var peak: Int32 = 0
    unsafe sqlite3_db_status(handle, SQLITE_DBSTATUS_DEFERRED_FKS, &now, &peak, 0)
    return now != 0
  }

  /// Records an error of this connection, also as its fatal error if it is one.
  ///
  /// Returns the error; when the authorizer refused the statement, the message names what it refused.
  borrowing func noted(_ failure: SQLiteError) -> SQLiteError {
    var error = failure
    if error.code == .notAuthorised, let denied = state.denied {
      error = SQLiteError(code: error.code, message: "\(error.message): \(denied)", sql: error.sql)
      state.denied = nil
    }
    state.lastError = error
    if error.code.isFatal, state.fatal == nil { state.fatal = error }
    return error
  }

  private borrowing func begin(_ sql: SQL) throws(SQLiteError) -> StatementCache.Entry {
    guard !interrupter.isCancelled else {
      throw SQLiteError(code: .interrupted, message: "the database is being closed", sql: sql.text)
    }
    try refuseOutsideTransaction(sql.text)
    let entry: StatementCache.Entry
    if let kept = state.statements.take(sql.text) {
      entry = kept
    } else {
      do throws(SQLiteError) {
        entry = state.statements.keep(unsafe try Statement(sql.text, on: handle, kept: true))
      } catch {
        throw noted(error)
      }
    }
    if !entry.statement.isReadOnly { state.hasWritten = true }
    do throws(SQLiteError) {
      try entry.statement.bind(sql.values)
    } catch {
      state.statements.giveBack(entry)
      throw noted(error)
    }
    return entry
  }

  /// Refuses statements after SQLite has ended a request's transaction by itself (full disk, `ON CONFLICT ROLLBACK`).
  ///
  /// If the request's code caught that error and went on, each further statement would commit by itself, although its
  /// caller would be told that nothing was written.
  private borrowing func refuseOutsideTransaction(_ sql: String) throws(SQLiteError) {
    guard state.insideRequest, !isInTransaction else { return }
    throw SQLiteError(
      code: state.lastError?.code ?? .error,
      message: "an earlier error has ended the transaction of this request", sql: sql)
  }

  private borrowing func step(_ entry: StatementCache.Entry) throws(SQLiteError) -> Bool {
    do throws(SQLiteError) {
      return try entry.statement.step()
    } catch {
      throw noted(error)
    }
  }
}

/// The mutable state of a connection.
///
/// Only the connection's thread uses it.
final class ConnectionState {
  let statements = StatementCache()
  /// The first error after which the results of this connection cannot be trusted.
  var fatal: SQLiteError?
  /// The last error of the connection, including errors that a request's own code caught.
  var lastError: SQLiteError?
  /// Which code runs statements on the connection now: this target's, a request's or a migration's.
  ///
  /// The authorizer decides by it what to deny.
  enum Code { case ours, request, migration }
  var running = Code.ours
  /// What SQLite's authorizer denied last, for the error message.
  ///
  /// SQLite itself says only "not authorized".
  var denied: String?
  /// True while a request or migration runs.
  ///
  /// Their code must not end the transaction or begin another.
  var insideRequest: Bool { running != .ours }
  /// Whether a statement that can write has run since this was last set to false.
  var hasWritten = false
  /// The number of pages in the write-ahead log after the last commit.
  var logPages = 0
  /// A counter of commits that changed rows which `DatabaseOptions.moves` selects.
  ///
  /// Nil if no changes are counted.
  var changes: ChangeMark?
  /// Whether the open transaction has changed a row that `DatabaseOptions.moves` selects.
  var hasChangedRows = false

  /// Advances the counter `changes` if the committed transaction has changed rows that it counts.
  ///
  /// Called after a commit and before its requests are answered.
  func noteCommit() {
    if hasChangedRows { changes?.move() }
    hasChangedRows = false
  }
}
