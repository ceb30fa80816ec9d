/// How much the writer does at once and how far its log may grow.
public struct WriterLimits: Sendable {
  /// The most requests in one transaction.
  public var batchRequests = 256
  /// How long one transaction may take in requests before it is committed, in nanoseconds.
  public var batchNanoseconds: UInt64 = 5_000_000
  /// How long an open transaction waits for requesters that came with the last one, in nanoseconds; 0 is never.
  public var gatherNanoseconds: UInt64 = 200_000
  /// The most requests that may wait; more are refused at once.
  public var queueCapacity = 10_000
  /// Log pages worth copying back into the database when nobody waits.
  public var passivePages = 1_000
  /// Log pages that are copied back although requests wait.
  public var forcedPages = 4_000
  /// Log pages at which the writer stops to get rid of the log, and counts it as an alarm.
  public var maximumPages = 16_000
  /// After so long without a write the log is copied back, in nanoseconds.
  public var quietNanoseconds: UInt64 = 500_000_000
  /// After so long without a write the log file is emptied, in nanoseconds.
  public var truncateNanoseconds: UInt64 = 10_000_000_000
  /// From which time on a commit counts as slow when the database is closed, in nanoseconds.
  public var slowCommitNanoseconds: UInt64 = 1_000_000_000
  /// How long closing goes on writing, and waits for a disk that does not come back, in nanoseconds.
  public var closingNanoseconds: UInt64 = 2_000_000_000

  /// The values above.
  public init() {}
}
