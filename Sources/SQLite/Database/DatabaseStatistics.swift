import RegentPlatform
public import RegentSQL

/// What the database has done since it was opened.
public struct DatabaseStatistics: Sendable {
  /// Transactions that were committed.
  public internal(set) var commits = 0
  /// Requests that were committed.
  public internal(set) var requests = 0
  /// Requests that failed by themselves and were rolled back alone.
  public internal(set) var failedRequests = 0
  /// Transactions that were given up as a whole.
  public internal(set) var rollbacks = 0
  /// How often the disk was full.
  public internal(set) var diskFull = 0
  /// Requests per committed transaction.
  public internal(set) var batchSizes = Histogram()
  /// How long a `COMMIT` took, fsync included, in microseconds.
  public internal(set) var commitMicroseconds = Histogram()
  /// Pages in the write-ahead log after the last commit.
  public internal(set) var logPages = 0
  /// Checkpoints that copied everything.
  public internal(set) var checkpoints = 0
  /// Checkpoints that a reader or a full disk kept from copying everything.
  public internal(set) var incompleteCheckpoints = 0
  /// How often the log was found above its limit: a reader that never ends, or a disk that is too slow.
  public internal(set) var logOverLimit = 0
  /// Reads that were served.
  public internal(set) var reads = 0
}

/// The statistics while they are counted.
final class Counters: Sendable {
  private let state = Monitor(DatabaseStatistics())

  var now: DatabaseStatistics { state.withLock { $0 } }

  func noteCommit(requests: Int, nanoseconds: UInt64) {
    state.withLock { state in
      state.commits += 1
      state.requests += requests
      state.batchSizes.record(requests)
      state.commitMicroseconds.record(Int(nanoseconds / 1_000))
    }
  }

  func noteFailedRequest() { state.withLock { $0.failedRequests += 1 } }

  func noteRollback(_ failure: DatabaseFailure) {
    state.withLock { state in
      state.rollbacks += 1
      if case .diskFull = failure { state.diskFull += 1 }
    }
  }

  /// A request met a full disk and was undone alone.
  func noteFull() { state.withLock { $0.diskFull += 1 } }

  func noteLog(pages: Int) { state.withLock { $0.logPages = pages } }

  func noteLogOverLimit() { state.withLock { $0.logOverLimit += 1 } }

  func noteCheckpoint(complete: Bool) {
    state.withLock { state in
      if complete { state.checkpoints += 1 } else { state.incompleteCheckpoints += 1 }
    }
  }

  func noteRead() { state.withLock { $0.reads += 1 } }
}
