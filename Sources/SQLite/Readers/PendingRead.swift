/// A read on its way to a reader thread.
struct PendingRead: Sendable {
  private let run: @Sendable (borrowing ReadContext) throws -> @Sendable () -> Void
  /// Tells the requester that it failed.
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
  /// - Returns: what answers it.
  fileprivate func perform(in context: borrowing ReadContext) -> () -> Void {
    do {
      // An error, or an interrupt, may have ended the look that others began.
      if !context.connection.isInTransaction { try context.connection.run("BEGIN") }
      return try run(context)
    } catch {
      return { refuse(error) }
    }
  }
}

extension ReadContext {
  /// Runs reads as one transaction: all their statements see the same moment.
  ///
  /// Several together cost less than one after the other: a page that one has fetched need not be fetched again. Each
  /// is answered when it is done, and the last one after the end: a requester that is alone never finds its own
  /// snapshot open.
  borrowing func serve(_ reads: ArraySlice<PendingRead>) {
    for read in reads.dropLast() { read.perform(in: self)() }
    let answer = reads.last?.perform(in: self)
    // Nothing was written: there is nothing that this could fail to undo.
    if connection.isInTransaction { connection.endRead() }
    answer?()
  }
}
