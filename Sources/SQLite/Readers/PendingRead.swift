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

  /// Runs the read as one transaction: all its statements see the same moment.
  ///
  /// The answer comes after its end, so that a requester's code never keeps a snapshot open.
  func serve(in context: borrowing ReadContext) {
    let outcome = Result { () throws -> @Sendable () -> Void in
      try context.connection.run("BEGIN")
      return try run(context)
    }
    if context.connection.isInTransaction {
      // Nothing was written: there is nothing that this could fail to undo.
      context.connection.endRead()
    }
    switch outcome {
    case .success(let deliver): deliver()
    case .failure(let error): refuse(error)
    }
  }
}
