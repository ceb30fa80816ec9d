internal import PairingStore
internal import RegentPlatform

/// Sends the other nodes what happened here: at once, and what comes while something is being sent, together after it.
///
/// The store sends at most once in two milliseconds, so a busy node sends many at once. Until then, and for as long as
/// the store is away, each node counts what happens there by itself.
final class BatchedSender<Item: Sendable>: Sendable {
  typealias Told = @Sendable (Result<Void, StoreError>) -> Void

  private struct State {
    var due: [Item] = []
    var isSending = false
    /// Whether the log says already that nothing is sent: in an outage every call would say it again.
    var isFailing = false
  }

  /// More in one such moment are not sent.
  private let most: Int
  /// What the log says when some could not be sent, once until some can.
  private let failure: StaticString
  private let log: ServiceLog
  private let send: @Sendable ([Item], @escaping Told) -> Void
  private let state = Locked(State())

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
    // No timer, and no task: they and the thread that they wake cost a busy node more than the sending.
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

  /// What is to be sent now; nothing when all was.
  private func next() -> [Item]? {
    state.withLock { state in
      state.isSending = !state.due.isEmpty
      defer { state.due = [] }
      return state.isSending ? state.due : nil
    }
  }
}

extension BatchedSender<UsedNonce> {
  /// Which nonces were used here, where there is somebody to tell: 16 MiB at most.
  static func nonces(_ store: any NodeStore, log: ServiceLog) -> BatchedSender? {
    guard store.isShared else { return nil }
    return BatchedSender(most: 262_144, failure: "nonces-untold", log: log) { store.share($0, $1) }
  }
}

extension BatchedSender<WrongGuess> {
  /// What was guessed wrong here; the limits let less than that through.
  static func guesses(_ store: any NodeStore, log: ServiceLog) -> BatchedSender? {
    guard store.isShared else { return nil }
    return BatchedSender(most: 10_000, failure: "guesses-untold", log: log) { store.share($0, $1) }
  }
}
