import RegentPlatform

// Each request has three forms: with a completion (for event loops), asynchronous, and blocking (for threads outside
// Swift's pool only). Bodies are synchronous, so that nothing can run between two of their statements.

extension Database {
  /// Queues a write.
  ///
  /// Calls `completion` after the commit, or with the reason of the failure.
  ///
  /// - Parameters:
  ///   - body: runs on the writer thread in a transaction that may be shared; throwing undoes only this request. It
  ///     must not block and must not use this database in any other way. When another request of the transaction fails
  ///     after it has written, `body` runs again, and only its last run takes effect.
  ///   - completion: called once, usually on the writer thread, so it must only pass the result on. The error is
  ///     `DatabaseFailure`, or what `body` threw.
  public func write<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing WriteContext) throws -> Value,
    completion: @escaping @Sendable (Result<Value, any Error>) -> Void
  ) {
    queue.add(PendingWrite(body, completion: completion))
  }

  /// Writes and returns after the commit.
  ///
  /// Cancelling the task does not cancel the write.
  ///
  /// - Parameter body: as for the write with a completion.
  /// - Returns: what `body` returned.
  /// - Throws: `DatabaseFailure`, or what `body` threw.
  @discardableResult
  public func write<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing WriteContext) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.add(PendingWrite(body) { continuation.resume(with: $0) })
    }
  }

  /// Writes and blocks the calling thread until the commit.
  ///
  /// - Parameter body: as for the write with a completion.
  /// - Returns: what `body` returned.
  /// - Throws: `DatabaseFailure`, or what `body` threw.
  @discardableResult
  public func writeBlocking<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing WriteContext) throws -> Value
  ) throws -> Value {
    guard !writer.isCurrent else { throw Database.waitsForItself }
    return try Database.block { done in write(body, completion: done) }
  }

  /// Queues a write whose result no caller needs, for data that may be lost, like a time of last use.
  ///
  /// Failures are only counted.
  ///
  /// - Parameter body: as for the write with a completion.
  public func writeLater(_ body: @escaping @Sendable (borrowing WriteContext) throws -> Void) {
    write(body) { (_: Result<Void, any Error>) in }
  }

  /// Reads on a reader thread and calls `completion` there.
  ///
  /// - Parameters:
  ///   - body: all its statements see the same moment.
  ///   - completion: called once; it must only pass the result on.
  public func read<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing ReadContext) throws -> Value,
    completion: @escaping @Sendable (Result<Value, any Error>) -> Void
  ) {
    readers.add(PendingRead(body, completion: completion))
  }

  /// Reads on a reader thread.
  ///
  /// - Parameter body: all its statements see the same moment.
  /// - Returns: what `body` returned.
  /// - Throws: `DatabaseFailure`, `SQLiteError`, or what `body` threw.
  public func read<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing ReadContext) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      readers.add(PendingRead(body) { continuation.resume(with: $0) })
    }
  }

  /// Reads on a reader thread and blocks the calling thread.
  ///
  /// - Parameter body: all its statements see the same moment.
  /// - Returns: what `body` returned.
  /// - Throws: `DatabaseFailure`, `SQLiteError`, or what `body` threw.
  public func readBlocking<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing ReadContext) throws -> Value
  ) throws -> Value {
    guard !readers.isCurrent else { throw Database.waitsForItself }
    return try Database.block { done in read(body, completion: done) }
  }

  private static let waitsForItself = SQLiteError(
    code: .misuse, message: "a request or completion cannot wait for its own thread")

  private static func block<Value: Sendable>(
    _ start: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
  ) throws -> Value {
    let answer = Once<Result<Value, any Error>>()
    start { answer.fulfil($0) }
    guard let result = answer.wait() else { throw DatabaseFailure.closed }
    return try result.get()
  }
}
