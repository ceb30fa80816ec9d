internal import PairingStore
internal import RegentPlatform

/// Sends the other nodes what happened here: at once, and what comes while something is being sent, together after it.
///
/// The store sends at most once in two milliseconds, so a busy node sends many at once. Until then, and for as long as
/// the store is away, each node counts what happens there by itself.
final class BatchedSender<Item: Sendable>: Sendable {
  private struct State {
    var due: [Item] = []
    var isSending = false
  }

  /// More in one such moment are not sent.
  private let most: Int
  /// What the log says of those that could not be sent.
  private let failure: StaticString
  private let log: ServiceLog
  private let send: @Sendable ([Item]) async throws(StoreError) -> Void
  private let state = Locked(State())

  init(
    most: Int, failure: StaticString, log: ServiceLog,
    _ send: @escaping @Sendable ([Item]) async throws(StoreError) -> Void
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
    // No timer: it and the task that it wakes cost a busy node more than the sending.
    if isFirst { Task { await sendAll() } }
  }

  private func sendAll() async {
    while let batch = next() {
      do throws(StoreError) {
        try await send(batch)
      } catch {
        log.warning(failure, ("count", "\(batch.count)"), ("reason", "\(error)"))
      }
    }
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
    return BatchedSender(most: 262_144, failure: "nonces-untold", log: log) { nonces throws(StoreError) in
      try await store.share(nonces)
    }
  }
}

extension BatchedSender<WrongGuess> {
  /// What was guessed wrong here; the limits let less than that through.
  static func guesses(_ store: any NodeStore, log: ServiceLog) -> BatchedSender? {
    guard store.isShared else { return nil }
    return BatchedSender(most: 10_000, failure: "guesses-untold", log: log) { guesses throws(StoreError) in
      try await store.share(guesses)
    }
  }
}
