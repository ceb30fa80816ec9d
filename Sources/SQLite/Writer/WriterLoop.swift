import RegentPlatform

/// The writer thread's loop: takes requests, runs them in one transaction, commits, and only then answers.
///
/// Only the writer thread uses it.
final class WriterLoop {
  private let context: WriteContext
  private let transaction: Transaction
  private let lock: DatabaseLock
  private let queue: WriteQueue
  private let limits: WriterLimits
  private let counters: Counters
  private var checkpointer: Checkpointer
  /// Requests taken from the queue that have not run yet.
  private var waiting: ArraySlice<PendingWrite> = []
  /// How many requests the last transaction held.
  ///
  /// As many callers may soon send another request.
  private var lastBatch = 1
  /// Whether the last commit was so slow that closing must not wait for several more commits.
  private var isSlow = false
  /// How many of the next requests run with a savepoint of their own.
  private var careful = 0

  init(
    _ context: consuming WriteContext, _ lock: DatabaseLock, queue: WriteQueue,
    limits: WriterLimits, counters: Counters
  ) throws(SQLiteError) {
    transaction = try Transaction(on: context.connection)
    self.context = context
    self.lock = lock
    checkpointer = Checkpointer(limits: limits, counters: counters)
    self.queue = queue
    self.limits = limits
    self.counters = counters
  }

  /// Serves requests until the queue is closed and empty, or until a failure after which the file cannot be trusted.
  ///
  /// - Returns: that failure, or nil.
  func run() -> SQLiteError? {
    while true {
      let order = queue.next(until: checkpointer.deadline)
      do throws(FailStop) {
        switch order {
        case .write(let requests):
          waiting = requests[...]
          while !waiting.isEmpty {
            guard !queue.isOverdue else {
              for request in waiting { request.refuse(DatabaseFailure.closed) }
              waiting = []
              break
            }
            try runTransaction()
            try checkpointer.afterCommit(
              on: context.connection, busy: !waiting.isEmpty || queue.hasRequests)
          }
        case .checkpoint: try checkpointer.run(.truncate, on: context.connection)
        case nil: try checkpointer.quiet(on: context.connection)
        case .finish:
          // If the disk takes seconds for one commit, a checkpoint would take several times as long. Leave the log as
          // it is; the next opening recovers it.
          if queue.isOverdue || isSlow {
            context.connection.keepLogWhenClosing()
          } else {
            try checkpointer.run(.truncate, on: context.connection)
          }
          return nil
        }
      } catch {
        stop(error)
        return error.cause
      }
    }
  }

  private func runTransaction() throws(FailStop) {
    do throws(SQLiteError) {
      try own { () throws(SQLiteError) in try transaction.beginNow() }
    } catch {
      if error.code.isFatal { throw FailStop(cause: error) }
      // Refuse all waiting requests: if another program holds the lock, each would wait as long again.
      let refused = waiting
      waiting = []
      for request in refused { request.refuse(DatabaseFailure(definite: error)) }
      return
    }
    context.connection.state.hasChangedRows = false
    let start = Clocks.monotonicNanoseconds()
    var answers: [Answer] = []
    var turn = start
    while answers.count < limits.batchRequests {
      let now = Clocks.monotonicNanoseconds()
      guard now < start + limits.batchNanoseconds else { break }
      // On a single core, yield to threads that can answer other requests from memory.
      DedicatedThread.endTurn(begun: &turn, now: now)
      if waiting.isEmpty { waiting = gather(have: answers.count, since: start)[...] }
      guard let request = waiting.popFirst() else { break }
      // A lone request needs no savepoint: rolling back the transaction undoes no other request's changes.
      let alone = answers.isEmpty && waiting.isEmpty
      switch try perform(request, alone: alone, &answers) {
      case .open: continue
      case .lost(let failure): return refuse(answers, failure)
      case .again(let error): return try startAgain(answers, request, error)
      case .empty:
        for answer in answers { answer.release() }
        return
      }
    }
    lastBatch = answers.count
    try commit(answers)
  }

  /// Rolls back the open transaction and runs its requests again, each with a savepoint.
  ///
  /// With a savepoint SQLite keeps a copy of every page that changes, which is a quarter of the cost of a request. So
  /// requests first run without one, and when a request fails after writing, which is rare, the whole transaction is
  /// repeated.
  private func startAgain(
    _ answers: [Answer], _ failed: PendingWrite, _ error: any Error
  ) throws(FailStop) {
    let last = Answer(request: failed, outcome: .failed(reported(error)))
    try rollBack(answers + [last], after: context.connection.state.lastError)
    waiting = (answers.map(\.request) + [failed] + waiting)[...]
    careful = waiting.count
  }

  /// Collects more requests for the open transaction.
  ///
  /// After a shared commit its callers tend to send their next request at once. Waiting a moment for as many requests
  /// as last time puts them all into one commit. A lone caller never waits for this.
  private func gather(have count: Int, since start: UInt64) -> [PendingWrite] {
    let expected = lastBatch - count
    guard count > 0, expected > 0, limits.gatherNanoseconds > 0 else { return queue.takeMore() }
    return queue.takeMore(atLeast: expected, until: start + limits.gatherNanoseconds)
  }

  private func commit(_ answers: [Answer]) throws(FailStop) {
    let start = Clocks.monotonicNanoseconds()
    do throws(SQLiteError) {
      try own { () throws(SQLiteError) in try transaction.commitNow() }
    } catch {
      switch error.code {
      // After these errors the transaction certainly wrote nothing: rolling back ensures that the log has no commit
      // record. BUSY and CONSTRAINT fail before the log is written.
      case .full, .busy, .constraint:
        try rollBack(answers, after: error)
        return refuse(answers, DatabaseFailure(definite: error))
      // Any other error may have happened after the commit record was written, so the outcome is unknown.
      default: throw FailStop(cause: error, unknown: answers)
      }
    }
    let taken = Clocks.monotonicNanoseconds(since: start)
    isSlow = taken > limits.slowCommitNanoseconds
    counters.noteCommit(requests: answers.count, nanoseconds: taken)
    context.connection.state.noteCommit()
    // If the database file was removed or replaced, the commit went to a file that no path leads to any more.
    guard lock.isInPlace else { throw FailStop(cause: .moved, unknown: answers) }
    for answer in answers { answer.release() }
  }

  private func refuse(_ answers: [Answer], _ failure: DatabaseFailure) {
    counters.noteRollback(failure)
    for answer in answers { answer.refuse(failure) }
  }

  /// Stops the writer for good.
  ///
  /// The callers of requests that may have been written are told that the outcome is unknown. All other requests, now
  /// and later, are refused.
  private func stop(_ failure: FailStop) {
    // The queue is stopped first. A caller that reacts to its answer with another request is then refused at once.
    let queued = queue.stop(failure.cause)
    for answer in failure.unknown { answer.refuse(.outcomeUnknown(failure.cause)) }
    for request in waiting + queued { request.refuse(DatabaseFailure.stopped(failure.cause)) }
    waiting = []
  }
}

extension WriterLoop {
  /// The state of the open transaction after a request has run in it.
  private enum TransactionOutcome {
    case open
    /// The transaction was rolled back, with all requests that ran in it before.
    case lost(DatabaseFailure)
    /// The transaction held only this request, which failed.
    case empty
    /// The request failed after writing, and without a savepoint its changes cannot be undone alone.
    case again(any Error)
  }

  /// Runs one request inside the open transaction and appends its answer.
  private func perform(
    _ request: PendingWrite, alone: Bool, _ answers: inout [Answer]
  ) throws(FailStop) -> TransactionOutcome {
    let state = context.connection.state
    state.lastError = nil
    state.hasWritten = false
    let guarded = !alone && careful > 0
    careful = max(0, careful - 1)
    let outcome = attempt(request, guarded: guarded)
    if let fatal = state.fatal {
      // Even if the request's code caught the error itself, the connection cannot be trusted any more.
      let unsettled = Answer(request: request, outcome: .ready({}))
      throw FailStop(cause: fatal, unknown: answers + [unsettled])
    }
    switch outcome {
    case .success(let deliver):
      answers.append(Answer(request: request, outcome: .ready(deliver)))
      guard !context.connection.isInTransaction else { return .open }
      try rollBack(answers, after: state.lastError)
      return .lost(definite(state.lastError))
    case .failure(let error):
      let cannotBeUndoneAlone = !alone && !guarded && state.hasWritten
      let isFull = state.lastError?.code.primary == .full
      // Run all requests again, each with a savepoint. On a full disk this is useless, because they would meet the full
      // disk again.
      if cannotBeUndoneAlone, !isFull, context.connection.isInTransaction { return .again(error) }
      counters.noteFailedRequest()
      answers.append(Answer(request: request, outcome: .failed(reported(error))))
      guard context.connection.isInTransaction, !cannotBeUndoneAlone else {
        try rollBack(answers, after: state.lastError)
        return .lost(definite(state.lastError))
      }
      if isFull { counters.noteFull() }
      do throws(SQLiteError) {
        try own { () throws(SQLiteError) in
          if alone { try transaction.rollbackNow() }
          if guarded { try transaction.undoToSavepoint() }
        }
        return alone ? .empty : .open
      } catch {
        try rollBack(answers, after: error)
        return .lost(DatabaseFailure(definite: error))
      }
    }
  }

  private func attempt(
    _ request: PendingWrite, guarded: Bool
  ) -> Result<@Sendable () -> Void, any Error> {
    let state = context.connection.state
    do {
      if guarded {
        try own { () throws(SQLiteError) in try transaction.openSavepoint() }
      }
      state.running = .request
      defer { state.running = .ours }
      let deliver = try request.run(context)
      // COMMIT would detect a violated deferred foreign key too, but then every request in the transaction would fail.
      guard !context.connection.hasBrokenDeferredReferences else {
        throw SQLiteError(
          code: .constraintForeignKey, message: "a deferred foreign key points to nothing")
      }
      state.running = .ours
      if guarded, context.connection.isInTransaction {
        try own { () throws(SQLiteError) in try transaction.closeSavepoint() }
      }
      return .success(deliver)
    } catch {
      return .failure(error)
    }
  }

  /// Rolls the transaction back if SQLite has not done so already, and ensures that a restart cannot bring it back.
  private func rollBack(_ answers: [Answer], after error: SQLiteError?) throws(FailStop) {
    do throws(SQLiteError) {
      try own { () throws(SQLiteError) in
        if context.connection.isInTransaction { try transaction.rollbackNow() }
        if case .full? = error?.code.primary {
          try context.connection.cutLogAfterLastCommit()
        }
      }
    } catch {
      throw FailStop(cause: error, unknown: answers)
    }
  }

  /// Runs one of the writer's own statements, such as BEGIN, and records its errors like those of requests.
  private func own(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
    do throws(SQLiteError) {
      try body()
    } catch {
      throw context.connection.noted(error)
    }
  }

  /// Gives a full disk the same error, whether the request's code or the commit met it.
  private func reported(_ error: any Error) -> any Error {
    guard let error = error as? SQLiteError, case .full = error.code else { return error }
    return DatabaseFailure.diskFull(error)
  }

  private func definite(_ error: SQLiteError?) -> DatabaseFailure {
    DatabaseFailure(
      definite: error ?? SQLiteError(code: .error, message: "the transaction ended by itself"))
  }
}

/// A failure after which the writer must not write again.
struct FailStop: Error {
  let cause: SQLiteError
  /// Requests that have run.
  ///
  /// It is unknown whether their changes are in the file.
  var unknown: [Answer] = []
}

extension DatabaseFailure {
  /// The failure of a transaction that certainly wrote nothing to the file.
  init(definite error: SQLiteError) {
    if case .full = error.code { self = .diskFull(error) } else { self = .rolledBack(error) }
  }
}
