import RegentPlatform

/// Requests that wait for the writer thread, and what the writer has come to.
final class WriteQueue: Sendable {
  private struct State {
    var requests: [PendingWrite] = []
    var closing = false
    /// Until when what waits is still written, once it is being closed.
    var lastMoment: UInt64?
    var stopped: SQLiteError?
    /// How many requests the waiting writer wants; 0 when it does not wait.
    var wakeAt = 0
    var checkpointAsked = false
  }

  /// What the writer thread shall do next.
  enum NextStep {
    case write([PendingWrite])
    case checkpoint
    case finish
  }

  private let monitor = Monitor(State())
  private let capacity: Int

  init(capacity: Int) { self.capacity = capacity }

  /// Hands a request over, or says at once why not.
  func add(_ request: PendingWrite) {
    let refusal: DatabaseFailure? = monitor.withLock { state in
      if let cause = state.stopped { return .stopped(cause) }
      if state.closing { return .closed }
      guard state.requests.count < capacity else { return .overloaded(waiting: capacity) }
      state.requests.append(request)
      // One wake-up for as many as the writer wants, not one for each.
      if state.wakeAt > 0, state.requests.count >= state.wakeAt {
        state.wakeAt = 0
        monitor.wakeOne()
      }
      return nil
    }
    // Outside the lock: the requester's code may call back into the queue.
    if let refusal { request.refuse(refusal) }
  }

  /// Waits for work, at most until `deadline`, where nil is the answer.
  func next(until deadline: UInt64?) -> NextStep? {
    monitor.wait(until: deadline) { state in
      if let requests = take(from: &state) { return .write(requests) }
      if state.checkpointAsked {
        state.checkpointAsked = false
        return .checkpoint
      }
      if state.closing { return .finish }
      state.wakeAt = 1
      return nil
    }
  }

  /// Whether somebody waits.
  var hasRequests: Bool { monitor.withLock { !$0.requests.isEmpty } }

  /// What has come in meanwhile, without waiting.
  func takeMore() -> [PendingWrite] { monitor.withLock { take(from: &$0) } ?? [] }

  /// What comes in until at least `count` requests wait or the deadline has passed.
  func takeMore(atLeast count: Int, until deadline: UInt64) -> [PendingWrite] {
    monitor.wait(until: deadline) { state in
      if state.requests.count >= count || state.closing || Clocks.monotonicNanoseconds() >= deadline {
        return take(from: &state) ?? []
      }
      state.wakeAt = count
      return nil
    } ?? []
  }

  /// Refuses everything from now on with the error that made the writer useless; gives back what was waiting.
  func stop(_ cause: SQLiteError) -> [PendingWrite] {
    monitor.withLock { state in
      state.stopped = cause
      return take(from: &state) ?? []
    }
  }

  /// The error that stopped the writer.
  var stopped: SQLiteError? { monitor.withLock { $0.stopped } }

  /// Whether what is being written is the last: the time for closing is over.
  var isOverdue: Bool { monitor.withLock { $0.lastMoment.map { Clocks.monotonicNanoseconds() >= $0 } ?? false } }

  /// Takes no more requests; those that wait are still served, until the last moment.
  func close(by lastMoment: UInt64? = nil) {
    monitor.withLock { state in
      state.closing = true
      state.lastMoment = lastMoment
    }
    monitor.wakeAll()
  }

  /// Asks for a checkpoint at the next quiet moment.
  func askForCheckpoint() {
    monitor.withLock { $0.checkpointAsked = true }
    monitor.wakeAll()
  }

  private func take(from state: inout State) -> [PendingWrite]? {
    state.wakeAt = 0
    guard !state.requests.isEmpty else { return nil }
    var requests: [PendingWrite] = []
    swap(&requests, &state.requests)
    return requests
  }
}
