import PairingStore
import RegentPlatform

/// A write on its way to the lane: answered once, by the lane or because its time is over.
final class Request: Sendable {
  private enum State {
    case waiting
    /// It may be in the database already, or come there.
    case running
    case answered
  }

  /// Runs it; what it gives back is called when the COMMIT is certain.
  let run: @Sendable (WriteContext) throws -> @Sendable () -> Void
  /// What it asks, as far as it was named; and what can be named once that is answered.
  let questions: [Question]
  let moreQuestions: (@Sendable (borrowing ReadContext) throws -> [Question])?
  /// When whoever asked is told that no answer came; on the monotonic clock.
  let ends: UInt64
  private let refuse: @Sendable (any Error) -> Void
  private let state = Locked(State.waiting)

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

  /// Whether the lane may run it: not when somebody was told that nothing was written.
  func begin() -> Bool {
    state.withLock { state in
      guard state != .answered else { return false }
      state = .running
      return true
    }
  }

  /// Whether it still matters what becomes of it.
  var isOpen: Bool { state.withLock { $0 != .answered } }

  /// - Returns: false when somebody was told already that its outcome is unknown.
  func release(_ deliver: @Sendable () -> Void) -> Bool {
    guard state.withLock({ Self.take(&$0) }) != .answered else { return false }
    deliver()
    return true
  }

  func fail(_ error: any Error) {
    if state.withLock({ Self.take(&$0) }) != .answered { refuse(error) }
  }

  /// Its time is over; `forStandby` says that a COMMIT, its own or one before it, waits for the standby.
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

  private static func take(_ state: inout State) -> State {
    defer { state = .answered }
    return state
  }
}

/// A read on its way to a reader; it may be run again over another connection, and is answered once.
struct PendingRead: Sendable {
  /// Runs it; what it gives back tells whoever asked.
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
