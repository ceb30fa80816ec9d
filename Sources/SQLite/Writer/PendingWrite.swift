/// A write request that waits for the writer thread.
struct PendingWrite: Sendable {
  /// Runs the request.
  ///
  /// It returns a closure that delivers the answer to the caller, and that runs after the commit.
  let run: @Sendable (borrowing WriteContext) throws -> @Sendable () -> Void
  /// Reports a failure to the caller of the write.
  let refuse: @Sendable (any Error) -> Void

  init<Value: Sendable>(
    _ body: @escaping @Sendable (borrowing WriteContext) throws -> Value,
    completion: @escaping @Sendable (Result<Value, any Error>) -> Void
  ) {
    run = { context in
      let value = try body(context)
      return { completion(.success(value)) }
    }
    refuse = { completion(.failure($0)) }
  }
}

/// A request that has run, with the answer that its caller gets when the transaction ends.
struct Answer {
  let request: PendingWrite
  var outcome: Outcome

  enum Outcome {
    /// The request succeeded. The closure delivers the answer to its caller, after the commit.
    case ready(@Sendable () -> Void)
    /// The request failed and only its own changes were rolled back.
    case failed(any Error)
  }

  func release() {
    switch outcome {
    case .ready(let deliver): deliver()
    case .failed(let error): request.refuse(error)
    }
  }

  /// Reports that the transaction failed.
  ///
  /// The caller of a request that had failed before gets that request's own error, which says more.
  func refuse(_ failure: DatabaseFailure) {
    switch outcome {
    case .ready: request.refuse(failure)
    case .failed(let error): request.refuse(error)
    }
  }
}
