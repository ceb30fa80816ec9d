import RegentPlatform
public import RegentSQL

/// Counters since the database was opened.
public struct DatabaseStatistics: Sendable {
  public internal(set) var commits = 0
  public internal(set) var requests = 0
  /// The number of requests that failed and were rolled back alone.
  public internal(set) var failedRequests = 0
  /// The number of transactions that were rolled back as a whole.
  public internal(set) var rollbacks = 0
  /// How often a request or commit met a full disk.
  public internal(set) var diskFull = 0
  /// How many requests each committed transaction contained.
  public internal(set) var batchSizes = Histogram()
  /// How long each `COMMIT` took including its fsync, in microseconds.
  public internal(set) var commitMicroseconds = Histogram()
  /// The number of pages in the write-ahead log after the last commit.
  public internal(set) var logPages = 0
  /// The number of checkpoints that copied the whole write-ahead log.
  public internal(set) var checkpoints = 0
  /// The number of checkpoints that could not copy the whole log because of a reader or a full disk.
  public internal(set) var incompleteCheckpoints = 0
  /// How often the write-ahead log was above its limit, because a reader never ended or the disk was too slow.
  public internal(set) var logOverLimit = 0
  public internal(set) var reads = 0
}

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

  /// Counts a request that met a full disk and was undone alone.
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
