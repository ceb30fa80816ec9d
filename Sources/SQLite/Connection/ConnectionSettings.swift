import CSQLite

extension Connection {
  borrowing func configure(_ role: Role) throws(SQLiteError) {
    // First of all: even the pragmas below may meet a lock, and without a timeout they would fail at once.
    try check(unsafe sqlite3_busy_timeout(handle, 5_000))
    // SQL that reaches the schema or a shadow table could corrupt the file; no statement here needs to.
    try check(unsafe csqlite_switch(handle, SQLITE_DBCONFIG_DEFENSIVE, 1))
    try check(unsafe csqlite_switch(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0))
    try check(unsafe csqlite_switch(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0))
    // Whoever can write the file could plant a trigger that undoes a change, or a view in the place of a table.
    try check(unsafe csqlite_switch(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0))
    try check(unsafe csqlite_switch(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0))
    // Double-quoted words that are no column would silently be text.
    try check(unsafe csqlite_switch(handle, SQLITE_DBCONFIG_DQS_DML, 0))
    try check(unsafe csqlite_switch(handle, SQLITE_DBCONFIG_DQS_DDL, 0))
    limit(to: role)
    try run("PRAGMA foreign_keys = ON")
    try run("PRAGMA cell_size_check = ON")
    // Temporary results stay in memory: a file in /tmp would hold rows outside the database's 0600.
    try run("PRAGMA temp_store = MEMORY")
    // A mapped file turns an I/O error into a signal that kills the process.
    try run("PRAGMA mmap_size = 0")
    switch role {
    case .writer: try configureWriter()
    case .reader:
      try run("PRAGMA query_only = ON")
      // SQLite empties it after every commit of the writer: it serves the few reads of one look.
      try run("PRAGMA cache_size = -512")
      try neverCheckpoint()
    // VACUUM INTO writes its target, which query_only would forbid; the database itself is opened for reading only.
    case .backup: try neverCheckpoint()
    }
  }

  private borrowing func configureWriter() throws(SQLiteError) {
    // KiB: what a large database needs more memory for than a small one. The kernel keeps the same pages once more, and
    // to take one from there costs a refresh or a new code among a million no more than noise does.
    try run("PRAGMA cache_size = -2048")
    try run("PRAGMA synchronous = FULL")
    try run("PRAGMA secure_delete = FAST")
    // After a checkpoint the log file shrinks to this size (bytes) instead of keeping its largest ever.
    try run("PRAGMA journal_size_limit = 16777216")
    try run("PRAGMA wal_autocheckpoint = 0")
    countLogPages()
    refuseTransactionControlInRequests()
  }

  private borrowing func neverCheckpoint() throws(SQLiteError) {
    try run("PRAGMA wal_autocheckpoint = 0")
    // The last connection that closes would checkpoint: only the writer's may (the WAL-reset fault).
    try check(unsafe csqlite_switch(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1))
  }

  /// Leaves the log as it is when this connection closes: after a failure nobody may build on its content.
  borrowing func keepLogWhenClosing(_ keeps: Bool = true) {
    unsafe _ = csqlite_switch(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps ? 1 : 0)
  }

  private borrowing func check(_ code: Int32) throws(SQLiteError) {
    guard code == SQLITE_OK else { throw unsafe SQLiteError(of: handle, code: code) }
  }

  /// The "high-security values" of SQLite's manual, wide enough for the statements of this package.
  private borrowing func limit(to role: Role) {
    let limits: [(Int32, Int32)] = [
      (SQLITE_LIMIT_LENGTH, 1_000_000), (SQLITE_LIMIT_SQL_LENGTH, 100_000),
      (SQLITE_LIMIT_COLUMN, 100), (SQLITE_LIMIT_EXPR_DEPTH, 50),
      (SQLITE_LIMIT_COMPOUND_SELECT, 10), (SQLITE_LIMIT_VDBE_OP, 25_000),
      (SQLITE_LIMIT_FUNCTION_ARG, 16), (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200),
      (SQLITE_LIMIT_VARIABLE_NUMBER, 1_000), (SQLITE_LIMIT_TRIGGER_DEPTH, 10),
      // VACUUM INTO attaches its target.
      (SQLITE_LIMIT_ATTACHED, role == .backup ? 1 : 0), (SQLITE_LIMIT_WORKER_THREADS, 0),
    ]
    for (kind, value) in limits { unsafe sqlite3_limit(handle, kind, value) }
  }

  private borrowing func countLogPages() {
    let context = unsafe Unmanaged.passUnretained(state).toOpaque()
    unsafe sqlite3_wal_hook(handle, noteLogPages, context)
  }

  /// Has `changes` move on with commits that change rows.
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

// The three callbacks run on the connection's thread, inside a call on it; the state outlives the connection, which
// holds the only reference that matters. File-scope functions: a closure literal could inherit an actor and trap.

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
  // ALTER TABLE … ADD COLUMN runs `PRAGMA quick_check` inside (SQLite 3.40 for a column with a CHECK, 3.46 for each
  // column of a STRICT table). Migrations are this program's own text, so their pragmas pass.
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
