/// Limits of one transaction, of the request queue, and of the write-ahead log.
public struct WriterLimits: Sendable {
  /// The maximum number of requests in one transaction.
  public var batchRequests = 256
  /// How long requests may run in one transaction before it is committed, in nanoseconds.
  public var batchNanoseconds: UInt64 = 5_000_000
  /// How long an open transaction waits for further requests from the callers of the previous transaction, in
  /// nanoseconds.
  ///
  /// With 0 it does not wait.
  public var gatherNanoseconds: UInt64 = 200_000
  /// The maximum number of requests that may be queued.
  ///
  /// Further ones are refused at once.
  public var queueCapacity = 10_000
  /// How many log pages must be uncopied for a checkpoint to run when no request waits.
  public var passivePages = 1_000
  /// How many log pages must be uncopied for a checkpoint to run although requests wait.
  public var forcedPages = 4_000
  /// The number of pages in the write-ahead log at which the writer stops until the log is empty, and counts an alarm.
  public var maximumPages = 16_000
  /// How long after the last write the log is copied into the database, in nanoseconds.
  public var quietNanoseconds: UInt64 = 500_000_000
  /// How long after the last write the log file is emptied, in nanoseconds.
  public var truncateNanoseconds: UInt64 = 10_000_000_000
  /// How long a commit must take to count as slow, in nanoseconds.
  ///
  /// After a slow commit, closing does not empty the log.
  public var slowCommitNanoseconds: UInt64 = 1_000_000_000
  /// How long closing continues to write queued requests, and how much longer it waits for a disk that does not answer,
  /// in nanoseconds.
  public var closingNanoseconds: UInt64 = 2_000_000_000

  /// Creates the default limits.
  public init() {}
}
