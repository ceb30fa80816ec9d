/// Limits of one transaction, of the request queue, and of the write-ahead log.
public struct WriterLimits: Sendable {
  /// The most requests in one transaction.
  public var batchRequests = 256
  /// How long requests may run in one transaction before it is committed, in nanoseconds.
  public var batchNanoseconds: UInt64 = 5_000_000
  /// How long an open transaction waits for further requests from the requesters of the previous one, in nanoseconds; 0
  /// means that it does not wait.
  public var gatherNanoseconds: UInt64 = 200_000
  /// The most requests that may be queued; further ones are refused at once.
  public var queueCapacity = 10_000
  /// Uncopied log pages from which a checkpoint runs when no request waits.
  public var passivePages = 1_000
  /// Uncopied log pages from which a checkpoint runs although requests wait.
  public var forcedPages = 4_000
  /// Log pages at which the writer stops until the log is emptied, and counts an alarm.
  public var maximumPages = 16_000
  /// Time without a write after which the log is copied into the database, in nanoseconds.
  public var quietNanoseconds: UInt64 = 500_000_000
  /// Time without a write after which the log file is emptied, in nanoseconds.
  public var truncateNanoseconds: UInt64 = 10_000_000_000
  /// Duration from which a commit counts as slow, in nanoseconds.
  ///
  /// After a slow commit closing does not empty the log.
  public var slowCommitNanoseconds: UInt64 = 1_000_000_000
  /// How long closing goes on writing queued requests, and how much longer it waits for a disk that does not answer, in
  /// nanoseconds.
  public var closingNanoseconds: UInt64 = 2_000_000_000

  /// Creates the default limits.
  public init() {}
}
