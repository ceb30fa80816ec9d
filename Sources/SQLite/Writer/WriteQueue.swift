import RegentPlatform

/// The queue of requests for the writer thread, and the error that has stopped the writer.
final class WriteQueue: Sendable {
  private struct WriteQueueState {
    var requests: [PendingWrite] = []
    var closing = false
    /// While the queue is being closed: the time until which waiting requests are still written.
    var lastMoment: UInt64?
    var stopped: SQLiteError?
    /// How many requests must wait before the writer is woken; 0 when the writer is not waiting.
    var wakeAt = 0
    var checkpointAsked = false
  }

  /// What the writer thread must do next: run requests, run a checkpoint, or end.
  enum NextStep {
    case write([PendingWrite])
    case checkpoint
    case finish
  }

  private let monitor = Monitor(WriteQueueState())
  private let capacity: Int

  init(capacity: Int) { self.capacity = capacity }

  /// Queues a request, or refuses it at once when the writer is stopped, the queue is closing or full.
  func add(_ request: PendingWrite) {
    let refusal: DatabaseFailure? = monitor.withLock { state in
      if let cause = state.stopped { return .stopped(cause) }
      if state.closing { return .closed }
      guard state.requests.count < capacity else { return .overloaded(waiting: capacity) }
      state.requests.append(request)
      // Wake the writer once when it has as many requests as it wants, not for each request.
      if state.wakeAt > 0, state.requests.count >= state.wakeAt {
        state.wakeAt = 0
        monitor.wakeOne()
      }
      return nil
    }
    // The refusal is outside the lock, because the caller's code may call back into the queue.
    if let refusal { request.refuse(refusal) }
  }

  /// Waits for a request or a checkpoint to run, until `deadline` at most.
  ///
  /// Returns nil at the deadline.
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

  var hasRequests: Bool { monitor.withLock { !$0.requests.isEmpty } }

  /// Takes the requests that have arrived since the last call, without waiting.
  func takeMore() -> [PendingWrite] { monitor.withLock { take(from: &$0) } ?? [] }

  /// Waits until at least `count` requests are queued or the deadline has passed, and takes them.
  func takeMore(atLeast count: Int, until deadline: UInt64) -> [PendingWrite] {
    monitor.wait(until: deadline) { state in
      if state.requests.count >= count || state.closing || Clocks.monotonicNanoseconds() >= deadline {
        return take(from: &state) ?? []
      }
      state.wakeAt = count
      return nil
    } ?? []
  }

  /// Refuses further requests with the error that stopped the writer.
  ///
  /// Returns the requests that were queued.
  func stop(_ cause: SQLiteError) -> [PendingWrite] {
    monitor.withLock { state in
      state.stopped = cause
      return take(from: &state) ?? []
    }
  }

  /// The error that stopped the writer.
  var stopped: SQLiteError? { monitor.withLock { $0.stopped } }

  /// Whether the time for writing queued requests while closing is over.
  ///
  /// The writer then finishes its transaction and begins no other.
  var isOverdue: Bool { monitor.withLock { $0.lastMoment.map { Clocks.monotonicNanoseconds() >= $0 } ?? false } }

  /// Refuses further requests.
  ///
  /// Requests that are queued already are still written, until `lastMoment`.
  func close(by lastMoment: UInt64? = nil) {
    monitor.withLock { state in
      state.closing = true
      state.lastMoment = lastMoment
    }
    monitor.wakeAll()
  }

  /// Asks for a checkpoint as soon as no request is queued.
  func askForCheckpoint() {
    monitor.withLock { $0.checkpointAsked = true }
    monitor.wakeAll()
  }

  private func take(from state: inout WriteQueueState) -> [PendingWrite]? {
    state.wakeAt = 0
    guard !state.requests.isEmpty else { return nil }
    var requests: [PendingWrite] = []
    swap(&requests, &state.requests)
    return requests
  }
}
