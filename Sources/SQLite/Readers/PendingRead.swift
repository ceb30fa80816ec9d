/// A read request that waits for a reader thread.
struct PendingRead: Sendable {
  private let run: @Sendable (borrowing ReadContext) throws -> @Sendable () -> Void
  /// Reports a failure to the caller of the read.
  let refuse: @Sendable (any Error) -> Void

  init<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing ReadContext) throws -> Value,
    completion: @escaping @Sendable (Result<Value, any Error>) -> Void
  ) {
    run = { context in
      let value = try body(context)
      return { completion(.success(value)) }
    }
    refuse = { completion(.failure($0)) }
  }

  /// Runs the read.
  ///
  /// - Returns: a closure that delivers the result to the caller of the read.
  fileprivate func perform(in context: borrowing ReadContext) -> () -> Void {
    do {
      // An error or an interrupt of an earlier read may have ended the shared transaction.
      if !context.connection.isInTransaction { try context.connection.run("BEGIN") }
      return try run(context)
    } catch {
      return { refuse(error) }
    }
  }
}

extension ReadContext {
  /// Runs reads in one transaction, so that all their statements see the same moment.
  ///
  /// That is faster than one transaction for each, because a page that one read has loaded need not be loaded again.
  /// Each caller is answered as soon as its read is done. The last one is answered only after the transaction has
  /// ended, so that a lone caller never finds its own snapshot still open.
  borrowing func serve(_ reads: ArraySlice<PendingRead>) {
    for read in reads.dropLast() { read.perform(in: self)() }
    let answer = reads.last?.perform(in: self)
    // The transaction has only read, so nothing is left to undo if ending it fails.
    if connection.isInTransaction { connection.endRead() }
    answer?()
  }
}
