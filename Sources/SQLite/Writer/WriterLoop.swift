import RegentPlatform

/// What the writer thread does: takes requests, runs them in one transaction, commits, and only then answers.
///
/// Lives on the writer thread alone.
final class WriterLoop {
  private let context: WriteContext
  private let transaction: Transaction
  private let lock: DatabaseLock
  private let queue: WriteQueue
  private let limits: WriterLimits
  private let counters: Counters
  private var checkpointer: Checkpointer
  /// Taken from the queue and not yet run.
  private var waiting: ArraySlice<PendingWrite> = []
  /// How many requests the last transaction held: that many requesters may be about to come back.
  private var lastBatch = 1
  /// Whether the last commit took so long that closing must not wait for several more.
  private var isSlow = false
  /// How many of the next requests get a savepoint each.
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
  /// - Returns: that failure.
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
          // A disk that takes seconds to force one commit would take as long several times over: the log stays as it
          // is, and the next opening goes on from it.
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
      // For example somebody's shell holds the lock: whoever waits behind it would wait as long again.
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
      // Who has a question that memory answers must not wait on one core for all that others want written.
      DedicatedThread.endTurn(begun: &turn, now: now)
      if waiting.isEmpty { waiting = gather(have: answers.count, since: start)[...] }
      guard let request = waiting.popFirst() else { break }
      // Alone, the transaction itself is the savepoint: nobody else's change can be undone with it.
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

  /// Undoes the open transaction and has its requests run anew, each with a savepoint.
  ///
  /// A savepoint keeps every page that changes below it, which is a quarter of what a request costs. So requests run
  /// without one, and the rare one that fails after it has written takes the whole transaction back with it.
  private func startAgain(
    _ answers: [Answer], _ failed: PendingWrite, _ error: any Error
  ) throws(FailStop) {
    let last = Answer(request: failed, outcome: .failed(reported(error)))
    try rollBack(answers + [last], after: context.connection.state.lastError)
    waiting = (answers.map(\.request) + [failed] + waiting)[...]
    careful = waiting.count
  }

  /// More requests for the open transaction.
  ///
  /// After a shared commit everybody who was answered tends to ask again at once: waiting a moment for as many as last
  /// time makes one commit of them. A lone requester is never waited for.
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
      // Definite: rolling back makes sure that the log has no commit record. BUSY and CONSTRAINT fail before the log is
      // touched.
      case .full, .busy, .constraint:
        try rollBack(answers, after: error)
        return refuse(answers, DatabaseFailure(definite: error))
      // Anything else may have happened after the commit record was written: neither yes nor no.
      default: throw FailStop(cause: error, unknown: answers)
      }
    }
    let taken = Clocks.monotonicNanoseconds(since: start)
    isSlow = taken > limits.slowCommitNanoseconds
    counters.noteCommit(requests: answers.count, nanoseconds: taken)
    context.connection.state.noteCommit()
    // What was written to a file that nobody can find any more must not be called kept.
    guard lock.isInPlace else { throw FailStop(cause: .moved, unknown: answers) }
    for answer in answers { answer.release() }
  }

  private func refuse(_ answers: [Answer], _ failure: DatabaseFailure) {
    counters.noteRollback(failure)
    for answer in answers { answer.refuse(failure) }
  }

  /// Fail-stop: what may have been written is unknown, everything else is refused, now and from now on.
  private func stop(_ failure: FailStop) {
    // The queue first, so that a requester who reacts to its answer is refused at once.
    let queued = queue.stop(failure.cause)
    for answer in failure.unknown { answer.refuse(.outcomeUnknown(failure.cause)) }
    for request in waiting + queued { request.refuse(DatabaseFailure.stopped(failure.cause)) }
    waiting = []
  }
}

extension WriterLoop {
  /// What became of the open transaction when a request ran in it.
  private enum TransactionOutcome {
    case open
    /// It was given up, with everything that ran in it before.
    case lost(DatabaseFailure)
    /// It held nothing but the request, which failed.
    case empty
    /// It holds what the request wrote before it failed, and nothing says where that begins.
    case again(any Error)
  }

  /// Runs one request inside the open transaction and notes its answer.
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
      // Even when the request caught the error itself: the connection is not to be trusted any more.
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
      // The others run again without it, unless the disk is full: it would be the second time, too.
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
      // COMMIT would find a broken deferred reference too, and punish everybody in the transaction for it.
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

  /// Ends the transaction if SQLite has not done so already, and makes sure that nothing of it can come back.
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

  /// Runs one of the writer's own statements; its errors count like those of requests.
  private func own(_ body: () throws(SQLiteError) -> Void) throws(SQLiteError) {
    do throws(SQLiteError) {
      try body()
    } catch {
      throw context.connection.noted(error)
    }
  }

  /// A full disk is the same answer whether the request or the commit met it.
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
  /// Requests that ran and of which nobody can say whether they are in the file.
  var unknown: [Answer] = []
}

extension DatabaseFailure {
  /// A transaction that certainly left nothing behind.
  init(definite error: SQLiteError) {
    if case .full = error.code { self = .diskFull(error) } else { self = .rolledBack(error) }
  }
}
