internal import PairingStore
internal import RegentPlatform

/// Tells the other nodes what happened here: at once, and while they are being told, what comes together the next time.
///
/// The store tells at most once in two milliseconds, so a busy node tells many at once. Until then, and for as long as
/// the store is away, it counts at each of them by itself.
final class Telling<Item: Sendable>: Sendable {
  private struct State {
    var due: [Item] = []
    var isTelling = false
  }

  /// More in one such moment are not told.
  private let most: Int
  /// What the log says of those that could not be told.
  private let failure: StaticString
  private let log: ServiceLog
  private let tell: @Sendable ([Item]) async throws(StoreError) -> Void
  private let state = Locked(State())

  init(
    most: Int, failure: StaticString, log: ServiceLog,
    _ tell: @escaping @Sendable ([Item]) async throws(StoreError) -> Void
  ) {
    self.most = most
    self.failure = failure
    self.log = log
    self.tell = tell
  }

  func add(_ item: Item) {
    let isFirst = state.withLock { state in
      guard state.due.count < most else { return false }
      state.due.append(item)
      defer { state.isTelling = true }
      return !state.isTelling
    }
    // No timer: it and the task that it wakes cost a busy node more than the telling.
    if isFirst { Task { await tellAll() } }
  }

  private func tellAll() async {
    while let told = next() {
      do throws(StoreError) {
        try await tell(told)
      } catch {
        log.warning(failure, ("count", "\(told.count)"), ("reason", "\(error)"))
      }
    }
  }

  /// What is to be told now; nothing when all was.
  private func next() -> [Item]? {
    state.withLock { state in
      state.isTelling = !state.due.isEmpty
      defer { state.due = [] }
      return state.isTelling ? state.due : nil
    }
  }
}

extension Telling<UsedNonce> {
  /// Which nonces were used here, where there is somebody to tell: 16 MiB at most.
  static func nonces(_ store: any NodeStore, log: ServiceLog) -> Telling? {
    guard store.isShared else { return nil }
    return Telling(most: 262_144, failure: "nonces-untold", log: log) { nonces throws(StoreError) in
      try await store.share(nonces)
    }
  }
}

extension Telling<WrongGuess> {
  /// What was guessed wrong here; the limits let less than that through.
  static func guesses(_ store: any NodeStore, log: ServiceLog) -> Telling? {
    guard store.isShared else { return nil }
    return Telling(most: 10_000, failure: "guesses-untold", log: log) { guesses throws(StoreError) in
      try await store.share(guesses)
    }
  }
}
