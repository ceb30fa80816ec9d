/// A request on its way to the writer thread.
struct PendingWrite: Sendable {
  /// Runs the request; what it gives back is called when the commit is certain.
  let run: @Sendable (borrowing WriteContext) throws -> @Sendable () -> Void
  /// Tells the requester that it failed.
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

/// What awaits a request that has run, once the fate of its transaction is known.
struct Answer {
  let request: PendingWrite
  var outcome: Outcome

  enum Outcome {
    /// It ran; this is called after the commit.
    case ready(@Sendable () -> Void)
    /// It failed by itself and was rolled back alone.
    case failed(any Error)
  }

  func release() {
    switch outcome {
    case .ready(let deliver): deliver()
    case .failed(let error): request.refuse(error)
    }
  }

  /// The transaction failed; a request that had failed by itself keeps its own error, which says more.
  func refuse(_ failure: DatabaseFailure) {
    switch outcome {
    case .ready: request.refuse(failure)
    case .failed(let error): request.refuse(error)
    }
  }
}
