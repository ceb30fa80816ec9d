import CSQLite
import RegentPlatform

/// Copies the write-ahead log back into the database: often enough that it stays small, and when nobody waits.
///
/// Only the writer's connection ever does this (the WAL-reset fault: a checkpoint elsewhere may corrupt the file).
struct Checkpointer {
  enum Mode { case passive, truncate }

  /// When something is to be done although no request comes; nil when the log is empty or was seen to.
  private(set) var deadline: UInt64?

  private let limits: WriterLimits
  private let counters: Counters
  /// How much of the log was copied the last time.
  private var copied = 0
  /// With a reader in the way a checkpoint copies only a part: it is tried again when the log has grown so far.
  private var nextAttempt = 0
  private var logIsEmpty = false

  init(limits: WriterLimits, counters: Counters) {
    self.limits = limits
    self.counters = counters
  }

  /// Looks at the log after a transaction.
  mutating func afterCommit(on connection: borrowing Connection, busy: Bool) throws(FailStop) {
    let pages = connection.state.logPages
    if pages < copied {
      // The log has started again from its beginning.
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

  /// Nobody has written for a while: first the pages are copied, later the file is emptied.
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
  /// A reader in its way or a full disk only puts it off.
  mutating func run(_ mode: Mode, on connection: borrowing Connection) throws(FailStop) {
    var pages: Int32 = 0
    var done: Int32 = 0
    let kind = mode == .passive ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE
    // TRUNCATE waits for readers, and nobody can write meanwhile: 50 ms at most.
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
