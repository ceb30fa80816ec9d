import CSQLite

extension Connection {
  borrowing func configure(_ role: Role) throws(SQLiteError) {
    // The busy timeout must be set first: the pragmas below may meet a lock, and without a timeout they would fail at
    // once.
    try check(unsafe sqlite3_busy_timeout(handle, 5_000))
    // SQL that writes to the schema or a shadow table could corrupt the file. No statement of this program needs to.
    try check(unsafe csqlite_switch(handle, SQLITE_DBCONFIG_DEFENSIVE, 1))
    try check(unsafe csqlite_switch(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0))
    try check(unsafe csqlite_switch(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0))
    // An attacker who can write the file could plant a trigger that undoes a change, or replace a table by a view.
    try check(unsafe csqlite_switch(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0))
    try check(unsafe csqlite_switch(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0))
    // Double-quoted text in SQL is forbidden. Otherwise SQLite silently treats a quoted name that is not a column as
    // text.
    try check(unsafe csqlite_switch(handle, SQLITE_DBCONFIG_DQS_DML, 0))
    try check(unsafe csqlite_switch(handle, SQLITE_DBCONFIG_DQS_DDL, 0))
    limit(to: role)
    try run("PRAGMA foreign_keys = ON")
    try run("PRAGMA cell_size_check = ON")
    // Keep temporary results in memory: a file in /tmp would hold rows outside the database file, whose mode is 0600.
    try run("PRAGMA temp_store = MEMORY")
    // Do not map the file into memory: with a mapped file, an I/O error is a signal (SIGBUS) that kills the process.
    try run("PRAGMA mmap_size = 0")
    switch role {
    case .writer: try configureWriter()
    case .reader:
      try run("PRAGMA query_only = ON")
      // A reader's cache has 512 KiB. SQLite empties it after every commit of the writer, so it serves only the reads
      // of one transaction.
      try run("PRAGMA cache_size = -512")
      try neverCheckpoint()
    // VACUUM INTO writes its target, which query_only would forbid. The database itself is opened read-only.
    case .backup: try neverCheckpoint()
    }
  }

  private borrowing func configureWriter() throws(SQLiteError) {
    // The writer's cache has 2 MiB. The kernel caches the same pages again: with a million records, a larger cache
    // changed the time of a refresh or of a new code by no more than measurement noise.
    try run("PRAGMA cache_size = -2048")
    try run("PRAGMA synchronous = FULL")
    try run("PRAGMA secure_delete = FAST")
    // The limit is in bytes. After a checkpoint the log file shrinks to this size. Otherwise it would keep its largest
    // size ever.
    try run("PRAGMA journal_size_limit = 16777216")
    try run("PRAGMA wal_autocheckpoint = 0")
    countLogPages()
    refuseTransactionControlInRequests()
  }

  private borrowing func neverCheckpoint() throws(SQLiteError) {
    try run("PRAGMA wal_autocheckpoint = 0")
    // SQLite runs a checkpoint when the last connection closes. Because of a fault of SQLite
    // (docs/decisions/0006-one-writer.md), only the writer's connection may run checkpoints.
    try check(unsafe csqlite_switch(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1))
  }

  /// Leaves the log as it is when this connection closes.
  ///
  /// Used after a failure, because the log's content may be wrong and a checkpoint would copy it into the database.
  borrowing func keepLogWhenClosing(_ keeps: Bool = true) {
    unsafe _ = csqlite_switch(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps ? 1 : 0)
  }

  private borrowing func check(_ code: Int32) throws(SQLiteError) {
    guard code == SQLITE_OK else { throw unsafe SQLiteError(of: handle, code: code) }
  }

  /// The limits that SQLite's manual recommends for high security, wide enough for the statements of this package.
  private borrowing func limit(to role: Role) {
    let limits: [(Int32, Int32)] = [
      (SQLITE_LIMIT_LENGTH, 1_000_000), (SQLITE_LIMIT_SQL_LENGTH, 100_000),
      (SQLITE_LIMIT_COLUMN, 100), (SQLITE_LIMIT_EXPR_DEPTH, 50),
      (SQLITE_LIMIT_COMPOUND_SELECT, 10), (SQLITE_LIMIT_VDBE_OP, 25_000),
      (SQLITE_LIMIT_FUNCTION_ARG, 16), (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200),
      (SQLITE_LIMIT_VARIABLE_NUMBER, 1_000), (SQLITE_LIMIT_TRIGGER_DEPTH, 10),
      // The statement VACUUM INTO attaches its target as a database.
      (SQLITE_LIMIT_ATTACHED, role == .backup ? 1 : 0), (SQLITE_LIMIT_WORKER_THREADS, 0),
    ]
    for (kind, value) in limits { unsafe sqlite3_limit(handle, kind, value) }
  }

  private borrowing func countLogPages() {
    let context = unsafe Unmanaged.passUnretained(state).toOpaque()
    unsafe sqlite3_wal_hook(handle, noteLogPages, context)
  }

  /// Makes each commit advance the counter `changes` if it changed rows that the counter's rule selects.
  borrowing func watchRows(for changes: ChangeMark) {
    state.changes = changes
    let context = unsafe Unmanaged.passUnretained(state).toOpaque()
    unsafe sqlite3_update_hook(handle, noteRow, context)
  }

  private borrowing func refuseTransactionControlInRequests() {
    let context = unsafe Unmanaged.passUnretained(state).toOpaque()
    unsafe sqlite3_set_authorizer(handle, authorise, context)
  }
}

// SQLite calls the next three functions on the connection's thread, during a call on the connection. The connection
// keeps its state alive, so the unretained pointers stay valid. The functions are at file scope because a closure
// literal could inherit an actor and trap.

private func noteLogPages(
  _ context: UnsafeMutableRawPointer?, _: OpaquePointer?, _: UnsafePointer<CChar>?, _ pages: Int32
) -> Int32 {
  if let context = unsafe context {
    unsafe Unmanaged<ConnectionState>.fromOpaque(context).takeUnretainedValue().logPages = Int(
      pages)
  }
  return SQLITE_OK
}

private func noteRow(
  _ context: UnsafeMutableRawPointer?, _ action: Int32, _: UnsafePointer<CChar>?, _ table: UnsafePointer<CChar>?,
  _: sqlite3_int64
) {
  guard let context = unsafe context, let table = unsafe table else { return }
  let state = unsafe Unmanaged<ConnectionState>.fromOpaque(context).takeUnretainedValue()
  guard !state.hasChangedRows, let changes = state.changes else { return }
  let change: DatabaseOptions.RowChange =
    switch action {
    case SQLITE_INSERT: .insert
    case SQLITE_UPDATE: .update
    default: .delete
    }
  if changes.isMoved(by: change, in: unsafe String(cString: table)) { state.hasChangedRows = true }
}

private func authorise(
  _ context: UnsafeMutableRawPointer?, _ action: Int32, _ first: UnsafePointer<CChar>?,
  _: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?, _: UnsafePointer<CChar>?
) -> Int32 {
  guard let context = unsafe context else { return SQLITE_DENY }
  let state = unsafe Unmanaged<ConnectionState>.fromOpaque(context).takeUnretainedValue()
  let name: String
  switch (action, state.running) {
  case (_, .ours): return SQLITE_OK
  // ALTER TABLE … ADD COLUMN runs `PRAGMA quick_check` itself (SQLite 3.40 for a column with a CHECK, 3.46 for each
  // column of a STRICT table). So a migration may run pragmas. Its SQL is part of this program, so it is trusted.
  case (SQLITE_PRAGMA, .migration): return SQLITE_OK
  case (SQLITE_PRAGMA, .request): name = "PRAGMA"
  case (SQLITE_TRANSACTION, _): name = "transaction"
  case (SQLITE_SAVEPOINT, _): name = "savepoint"
  case (SQLITE_ATTACH, _): name = "ATTACH"
  case (SQLITE_DETACH, _): name = "DETACH"
  default: return SQLITE_OK
  }
  let subject = unsafe first.map { unsafe " " + String(cString: $0) } ?? ""
  state.denied = name + subject
  return SQLITE_DENY
}
