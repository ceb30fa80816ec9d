import PairingStore
import RegentPlatform

/// A write for the writer thread.
///
/// It is answered once: by that thread, or at its deadline.
final class Request: Sendable {
  private enum RequestState {
    case waiting
    /// The write has begun.
    ///
    /// It may already be in the database, or may still be committed.
    case running
    case answered
  }

  /// Runs the write in a transaction.
  ///
  /// The returned function delivers the result, once the COMMIT is confirmed.
  let run: @Sendable (WriteContext) throws -> @Sendable () -> Void
  /// The queries that the write declares in advance, and more queries that it can declare once the first ones have
  /// results.
  let questions: [Question]
  let moreQuestions: (@Sendable (borrowing ReadContext) throws -> [Question])?
  /// The deadline of the write, on the monotonic clock.
  ///
  /// After it the caller gets an error.
  let ends: UInt64
  private let refuse: @Sendable (any Error) -> Void
  private let state = Locked(RequestState.waiting)

  init<Value: Sendable>(
    ends: UInt64, asking questions: [Question],
    thenAsking more: (@Sendable (borrowing ReadContext) throws -> [Question])?,
    _ body: @escaping @Sendable (borrowing WriteContext) throws -> Value,
    completion: @escaping @Sendable (Result<Value, any Error>) -> Void
  ) {
    self.ends = ends
    self.questions = questions
    moreQuestions = more
    run = { context in
      let value = try body(context)
      return { completion(.success(value)) }
    }
    refuse = { completion(.failure($0)) }
  }

  /// Marks the write as running.
  ///
  /// Returns false when its caller has been told that nothing was written.
  func begin() -> Bool {
    state.withLock { state in
      guard state != .answered else { return false }
      state = .running
      return true
    }
  }

  /// Whether the caller of the write still waits.
  var isOpen: Bool { state.withLock { $0 != .answered } }

  /// Delivers the result of the write to its caller.
  ///
  /// - Returns: false when the caller has already been told that the outcome is unknown.
  func release(_ deliver: @Sendable () -> Void) -> Bool {
    guard state.withLock({ Self.take(&$0) }) != .answered else { return false }
    deliver()
    return true
  }

  func fail(_ error: any Error) {
    if state.withLock({ Self.take(&$0) }) != .answered { refuse(error) }
  }

  /// Fails the write at its deadline.
  ///
  /// `forStandby` says that a COMMIT, of this write or of an earlier one, waits for the standby.
  func giveUp(forStandby: Bool) {
    switch state.withLock({ Self.take(&$0) }) {
    case .answered: break
    case .waiting:
      refuse(
        StoreError.unavailable(
          reason: forStandby ? "changes wait for the standby" : "the database did not answer in time"))
    case .running:
      refuse(
        forStandby
          ? StoreError.unknownOutcome(reason: "it waits for the standby, and counts when that has it")
          : StoreError.unknown(nil))
    }
  }

  private static func take(_ state: inout RequestState) -> RequestState {
    defer { state = .answered }
    return state
  }
}

/// A read for a reader thread.
///
/// It may run again on another connection, and is answered once.
struct PendingRead: Sendable {
  /// Runs the read in a transaction.
  ///
  /// The returned function delivers the result.
  let run: @Sendable (ReadContext) throws -> @Sendable () -> Void
  let refuse: @Sendable (any Error) -> Void
  let ends: UInt64

  init<Value: Sendable>(
    ends: UInt64, _ body: @escaping @Sendable (borrowing ReadContext) throws -> Value,
    completion: @escaping @Sendable (Result<Value, any Error>) -> Void
  ) {
    self.ends = ends
    let isAnswered = Locked(false)
    @Sendable func answer(_ result: Result<Value, any Error>) {
      let isLate = isAnswered.withLock { isAnswered in
        defer { isAnswered = true }
        return isAnswered
      }
      if !isLate { completion(result) }
    }
    run = { context in
      let value = try body(context)
      return { answer(.success(value)) }
    }
    refuse = { answer(.failure($0)) }
  }
}
