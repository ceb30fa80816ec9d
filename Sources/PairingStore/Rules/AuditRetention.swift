public import RegentPairing

/// The limits of the audit log.
public struct AuditRetention: Hashable, Sendable {
  /// The age at which an audit line is deleted.
  public var age: Duration
  /// The maximum number of audit lines that are kept, of any age.
  ///
  /// A million lines take about 300 MB.
  public var most: Int64
  /// The number of newest audit lines that are never deleted for their age.
  ///
  /// Without this minimum, a clock that is years ahead would empty the log.
  public var least: Int64

  public init(
    age: Duration = .seconds(400 * 86_400), most: Int64 = 1_000_000, least: Int64 = 10_000
  ) {
    self.age = age
    self.most = most
    self.least = least
  }

  /// Whether an audit line is deleted for its age, given the number of newer lines.
  public func isOld(_ time: Instant, newer: Int64, at now: Instant) -> Bool {
    newer >= least && time <= now - age
  }
}
