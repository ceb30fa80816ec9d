import CSQLite
import RegentPlatform

/// Copies the write-ahead log back into the database (a checkpoint).
///
/// It does so often enough that the log stays small, and preferably when no request waits.
///
/// Only the writer's connection may do this: because of the WAL-reset fault another connection could corrupt the file.
struct Checkpointer {
  enum Mode { case passive, truncate }

  /// When the checkpointer must act next, even without a request; nil when the log is empty or no checkpoint is needed.
  private(set) var deadline: UInt64?

  private let limits: WriterLimits
  private let counters: Counters
  /// How many pages of the log had been copied into the database after the last checkpoint.
  private var copied = 0
  /// The number of log pages at which to try a checkpoint again, after a reader has kept one from copying everything.
  private var nextAttempt = 0
  private var logIsEmpty = false

  init(limits: WriterLimits, counters: Counters) {
    self.limits = limits
    self.counters = counters
  }

  /// Runs a checkpoint after a transaction if the log has grown enough.
  mutating func afterCommit(on connection: borrowing Connection, busy: Bool) throws(FailStop) {
    let pages = connection.state.logPages
    if pages < copied {
      // SQLite has restarted the log from its beginning.
      copied = 0
      nextAttempt = 0
    }
    counters.noteLog(pages: pages)
    guard pages > copied else { return }
    logIsEmpty = false
    deadline = Clocks.monotonicNanoseconds() + limits.quietNanoseconds
    guard pages >= nextAttempt else { return }
    if pages >= limits.maximumPages {
      counters.noteLogOverLimit()
      try run(.truncate, on: connection)
    } else if pages - copied >= (busy ? limits.forcedPages : limits.passivePages) {
      try run(.passive, on: connection)
    }
  }

  /// Called after a time without writes: first copies the pages into the database, later empties the log file.
  mutating func quiet(on connection: borrowing Connection) throws(FailStop) {
    let now = Clocks.monotonicNanoseconds()
    if connection.state.logPages > copied {
      try run(.passive, on: connection)
      deadline = now + limits.truncateNanoseconds
    } else {
      try run(.truncate, on: connection)
      deadline = logIsEmpty ? nil : now + limits.truncateNanoseconds
    }
  }

  /// Runs one checkpoint.
  ///
  /// If a reader prevents the checkpoint or the disk is full, it is tried again later.
  mutating func run(_ mode: Mode, on connection: borrowing Connection) throws(FailStop) {
    var pages: Int32 = 0
    var done: Int32 = 0
    let kind = mode == .passive ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE
    // A checkpoint with TRUNCATE waits for readers and blocks writes meanwhile, so it may wait for 50 ms at most.
    unsafe sqlite3_busy_timeout(connection.handle, 50)
    let code = unsafe sqlite3_wal_checkpoint_v2(connection.handle, nil, kind, &pages, &done)
    let error =
      code == SQLITE_OK
      ? nil : connection.noted(unsafe SQLiteError(of: connection.handle, code: code))
    unsafe sqlite3_busy_timeout(connection.handle, 5_000)
    if let error, error.code.isFatal { throw FailStop(cause: error) }
    counters.noteCheckpoint(complete: error == nil && done >= pages)
    copied = max(0, Int(done))
    nextAttempt = max(0, Int(pages)) + (error == nil && done >= pages ? 0 : limits.passivePages)
    if mode == .truncate, error == nil {
      connection.state.logPages = 0
      copied = 0
      nextAttempt = 0
      logIsEmpty = true
    }
  }
}
