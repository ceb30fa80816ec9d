import RegentPlatform

// The three forms of a request: with a completion (for event loops), asynchronous, and blocking (for threads of one's
// own; never on Swift's pool). Bodies are synchronous, so that nothing can come between two statements.

extension Database {
  /// Writes and calls `completion` when the commit is certain, or with the reason why not.
  ///
  /// - Parameters:
  ///   - body: runs on the writer thread in a transaction that may be shared; throwing undoes this request alone. It
  ///     must not block and must not ask this database through another way. When another request of the transaction
  ///     fails after it has written, this one runs again: only what it did the last time counts and is answered.
  ///   - completion: called once, usually on the writer thread: it must only hand the answer on. The error is
  ///     `DatabaseFailure`, or what `body` threw.
  public func write<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing WriteContext) throws -> Value,
    completion: @escaping @Sendable (Result<Value, any Error>) -> Void
  ) {
    queue.add(PendingWrite(body, completion: completion))
  }

  /// Writes and returns when the commit is certain.
  ///
  /// Cancelling the task does not take the write back.
  ///
  /// - Parameter body: as above.
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

  /// Writes and blocks the calling thread until the commit is certain.
  ///
  /// - Parameter body: as above.
  /// - Returns: what `body` returned.
  /// - Throws: `DatabaseFailure`, or what `body` threw.
  @discardableResult
  public func writeBlocking<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing WriteContext) throws -> Value
  ) throws -> Value {
    guard !writer.isCurrent else { throw Database.waitsForItself }
    return try Database.block { done in write(body, completion: done) }
  }

  /// Writes without anybody waiting: for what may be lost, like a time of last use.
  ///
  /// Failures are only counted.
  ///
  /// - Parameter body: as above.
  public func writeLater(_ body: @escaping @Sendable (borrowing WriteContext) throws -> Void) {
    write(body) { (_: Result<Void, any Error>) in }
  }

  /// Reads on a reader thread and calls `completion` there.
  ///
  /// - Parameters:
  ///   - body: everything it asks sees the same moment.
  ///   - completion: called once: it must only hand the answer on.
  public func read<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing ReadContext) throws -> Value,
    completion: @escaping @Sendable (Result<Value, any Error>) -> Void
  ) {
    readers.add(PendingRead(body, completion: completion))
  }

  /// Reads on a reader thread.
  ///
  /// - Parameter body: everything it asks sees the same moment.
  /// - Returns: what `body` returned.
  /// - Throws: `DatabaseFailure`, `SQLiteError`, or what `body` threw.
  public func read<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing ReadContext) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      readers.add(PendingRead(body) { continuation.resume(with: $0) })
    }
  }

  /// Reads on a reader thread and blocks the calling one.
  ///
  /// - Parameter body: everything it asks sees the same moment.
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
