internal import HTTPCodec
internal import Platform

/// Counts, per source, the connections that never completed a valid request: what a slow attack consists of.
final class SourceLimiter: Sendable {
  private let limit: Int
  private let counts = Locked<[IPAddress: Int]>([:])

  init(limit: Int) { self.limit = limit }

  /// Counts one more connection of `source`, or refuses it.
  func admit(_ source: IPAddress) -> Bool {
    counts.withLock { counts in
      let count = counts[source, default: 0]
      guard count < limit else { return false }
      counts[source] = count + 1
      return true
    }
  }

  /// The connection proved itself or is gone.
  func release(_ source: IPAddress) {
    counts.withLock { counts in
      let count = counts[source, default: 0]
      // An entry that fell to nothing is removed, so that passing sources leave no memory behind.
      counts[source] = count > 1 ? count - 1 : nil
    }
  }
}
