internal import PairingStore
internal import RegentPlatform

/// Sends events to the other nodes.
///
/// The first one is sent at once. Those that occur while a batch is being sent are sent together in the next batch.
///
/// The store sends at most once in two milliseconds, so a busy node sends many events at once. Until they arrive, and
/// while the store is unavailable, each node counts only its own events.
final class BatchedSender<Item: Sendable>: Sendable {
  typealias Told = @Sendable (Result<Void, StoreError>) -> Void

  private struct BatchedSenderState {
    var due: [Item] = []
    var isSending = false
    /// Whether the failure was logged already; in an outage, every request would log it again.
    var isFailing = false
  }

  /// The maximum number of events in a batch; further events that occur meanwhile are not sent.
  private let most: Int
  /// The log event for a failure to send, logged once until sending works again.
  private let failure: StaticString
  private let log: ServiceLog
  private let send: @Sendable ([Item], @escaping Told) -> Void
  private let state = Locked(BatchedSenderState())

  init(
    most: Int, failure: StaticString, log: ServiceLog, _ send: @escaping @Sendable ([Item], @escaping Told) -> Void
  ) {
    self.most = most
    self.failure = failure
    self.log = log
    self.send = send
  }

  func add(_ item: Item) {
    let isFirst = state.withLock { state in
      guard state.due.count < most else { return false }
      state.due.append(item)
      defer { state.isSending = true }
      return !state.isSending
    }
    // The batch is sent from here without a timer or task. A timer or task, and the thread that it wakes, would cost a
    // busy node more than the sending.
    if isFirst { sendNext() }
  }

  private func sendNext() {
    guard let batch = next() else { return }
    send(batch) { [self] outcome in
      note(outcome)
      sendNext()
    }
  }

  private func note(_ outcome: Result<Void, StoreError>) {
    guard case .failure(let error) = outcome else { return state.withLock { $0.isFailing = false } }
    let isNew = state.withLock { state in
      defer { state.isFailing = true }
      return !state.isFailing
    }
    if isNew { log.warning(failure, ("reason", "\(error)")) }
  }

  /// Removes and returns the next batch of events; nil when everything was sent.
  private func next() -> [Item]? {
    state.withLock { state in
      state.isSending = !state.due.isEmpty
      defer { state.due = [] }
      return state.isSending ? state.due : nil
    }
  }
}

extension BatchedSender<UsedNonce> {
  /// Makes the sender that tells other nodes which nonces this node has accepted.
  ///
  /// Returns nil when this process is the only node. A batch has at most 16 MiB.
  static func nonces(_ store: any NodeStore, log: ServiceLog) -> BatchedSender? {
    guard store.isShared else { return nil }
    return BatchedSender(most: 262_144, failure: "nonces-untold", log: log) { store.share($0, $1) }
  }
}

extension BatchedSender<WrongGuess> {
  /// Makes the sender that tells other nodes about wrong guesses of secrets at this node.
  ///
  /// Returns nil when this process is the only node. The rate limits for guesses keep the number below the maximum of a
  /// batch.
  static func guesses(_ store: any NodeStore, log: ServiceLog) -> BatchedSender? {
    guard store.isShared else { return nil }
    return BatchedSender(most: 10_000, failure: "guesses-untold", log: log) { store.share($0, $1) }
  }
}
