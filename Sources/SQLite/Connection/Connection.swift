import CSQLite

/// One open connection; it is closed when its owner lets it go.
///
/// Used by one thread at a time.
@safe struct Connection: ~Copyable {
  /// What a connection is opened for.
  enum Role { case writer, reader, backup }

  let handle: OpaquePointer
  /// Mutable things that C callbacks and borrowed contexts share.
  let state: ConnectionState
  let interrupter: Interrupter

  /// Opens a file; `beforeUse` comes before the first statement.
  static func open(
    _ path: String, role: Role, fileLayer: String? = nil,
    beforeUse: (borrowing Connection) throws(SQLiteError) -> Void = { _ throws(SQLiteError) in }
  ) throws(SQLiteError) -> Connection {
    SQLiteLibrary.prepare()
    // Anything else SQLite would take for a URI, a temporary database, or another file's name.
    guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
      throw SQLiteError(code: .cannotOpen, message: "an absolute path is needed")
    }
    let connection = try open(named: path, role: role, fileLayer: fileLayer)
    try beforeUse(connection)
    try connection.configure(role)
    return connection
  }

  /// A database that is nowhere but in memory.
  static func inMemory() throws(SQLiteError) -> Connection {
    SQLiteLibrary.prepare()
    let connection = try open(named: ":memory:", role: .writer, fileLayer: nil)
    try connection.configure(.writer)
    return connection
  }

  private static func open(
    named path: String, role: Role, fileLayer: String?
  ) throws(SQLiteError) -> Connection {
    // NOMUTEX: SQLite's own lock is not needed where one thread at a time uses a connection.
    // NOFOLLOW: a link planted under the name must not make us write elsewhere.
    let access = role == .writer ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY
    let flags =
      access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
      | SQLITE_OPEN_PRIVATECACHE
    var made: OpaquePointer?
    let code = unsafe sqlite3_open_v2(path, &made, flags, fileLayer)
    guard code == SQLITE_OK, let made = unsafe made else {
      // The manual: even a failed open may return a handle, which must be closed.
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
    // After a failure nobody may build on the log as it looks from here: opening settles it.
    if state.fatal != nil { keepLogWhenClosing() }
    unsafe sqlite3_close_v2(handle)
  }
}

extension Connection {
  /// Runs a statement and hands out its rows.
  borrowing func each(_ sql: SQL, _ body: (borrowing Row) throws -> Void) throws {
    let entry = try begin(sql)
    defer { state.statements.giveBack(entry) }
    while try step(entry) { try body(entry.statement.row) }
  }

  /// Runs a statement to its end.
  ///
  /// - Returns: how many rows it changed itself, without triggers and cascades.
  @discardableResult
  borrowing func run(_ sql: SQL) throws(SQLiteError) -> Int {
    let entry = try begin(sql)
    defer { state.statements.giveBack(entry) }
    let before = unsafe sqlite3_total_changes64(handle)
    while try step(entry) {}
    // sqlite3_changes keeps the figure of the last INSERT, UPDATE or DELETE; only a grown total makes it this one's.
    guard unsafe sqlite3_total_changes64(handle) != before else { return 0 }
    return Int(unsafe sqlite3_changes64(handle))
  }

  /// Runs a text of several statements that stands in the source.
  borrowing func runScript(_ script: StaticString) throws(SQLiteError) {
    let text = script.description
    try refuseOutsideTransaction(text)
    state.hasWritten = true
    let code = unsafe sqlite3_exec(handle, text, nil, nil, nil)
    guard code == SQLITE_OK else {
      throw noted(unsafe SQLiteError(of: handle, code: code, sql: text))
    }
  }

  /// The single value of a statement, for pragmas and counts.
  borrowing func value<Value: SQLDecodable>(
    _ sql: SQL, as type: Value.Type = Value.self
  ) throws(SQLiteError) -> Value? {
    let entry = try begin(sql)
    defer { state.statements.giveBack(entry) }
    guard try step(entry) else { return nil }
    return try entry.statement.row.get(0)
  }

  /// Ends a read transaction, also one whose statement was cut short.
  borrowing func endRead() {
    // COMMIT is refused while the interrupt of a closing database is pending; ROLLBACK never is.
    unsafe sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
  }

  /// Whether a transaction is open.
  var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

  /// Whether a deferred foreign key is broken at this moment: `COMMIT` would fail for everybody in the transaction.
  var hasBrokenDeferredReferences: Bool {
    var now: Int32 = 0
    var peak: Int32 = 0
    unsafe sqlite3_db_status(handle, SQLITE_DBSTATUS_DEFERRED_FKS, &now, &peak, 0)
    return now != 0
  }

  /// Remembers an error after which the connection cannot be trusted, and gives the error back.
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

  /// Some errors end the whole transaction (a full disk, `ON CONFLICT ROLLBACK`).
  ///
  /// A request that hides such an error and goes on would commit each further statement by itself, and then be told
  /// that nothing was written.
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

/// The mutable part of a connection.
///
/// Used by the connection's thread only.
final class ConnectionState {
  let statements = StatementCache()
  /// The first error after which nothing this connection says can be trusted.
  var fatal: SQLiteError?
  /// The last error, also one that a request's own code caught.
  var lastError: SQLiteError?
  /// The code that runs on the connection, which decides what the authorizer denies.
  enum Code { case ours, request, migration }
  /// Whose statements are being prepared or run.
  var running = Code.ours
  /// What the authorizer denied last, for the error message: SQLite itself says "not authorized" and nothing else.
  var denied: String?
  /// True while a request or migration runs, which must not end or nest its transaction.
  var insideRequest: Bool { running != .ours }
  /// Whether a statement that can write has run since this was last set to false.
  var hasWritten = false
  /// The pages in the write-ahead log after the last commit.
  var logPages = 0
  /// What moves on with commits that change certain rows.
  var changes: ChangeMark?
  /// Whether the open transaction is one of them.
  var hasChangedRows = false

  /// The open transaction is committed, and nobody has been told.
  func noteCommit() {
    if hasChangedRows { changes?.move() }
    hasChangedRows = false
  }
}
