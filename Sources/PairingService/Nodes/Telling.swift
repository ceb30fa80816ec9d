internal import PairingStore
internal import RegentPlatform

/// Tells the other nodes what happened here: a moment later, many at once.
///
/// For that moment, and for as long as the store is away, it counts at each of them by itself.
final class Telling<Item: Sendable>: Sendable {
  /// How long the first of them waits for others.
  private static var span: Duration { .milliseconds(2) }
  /// More in one such moment are not told.
  private let most: Int
  /// What the log says of those that could not be told.
  private let failure: StaticString
  private let log: ServiceLog
  private let tell: @Sendable ([Item]) async throws(StoreError) -> Void
  private let due = Locked<[Item]>([])

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
    let isFirst = due.withLock { due in
      guard due.count < most else { return false }
      due.append(item)
      return due.count == 1
    }
    guard isFirst else { return }
    Task {
      try? await Task.sleep(for: Self.span)
      await tellAll()
    }
  }

  private func tellAll() async {
    let told = due.withLock { due in
      defer { due = [] }
      return due
    }
    do throws(StoreError) {
      try await tell(told)
    } catch {
      log.warning(failure, ("count", "\(told.count)"), ("reason", "\(error)"))
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
