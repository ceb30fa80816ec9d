public import RegentPairing

/// How much of the audit log is kept.
public struct AuditRetention: Hashable, Sendable {
  /// How long a line is kept.
  public var age: Duration
  /// The most lines that are kept, however young: some 300 MB.
  public var most: Int64
  /// So many of the newest lines are never forgotten for their age: a clock that is years ahead would take them all.
  public var least: Int64

  public init(
    age: Duration = .seconds(400 * 86_400), most: Int64 = 1_000_000, least: Int64 = 10_000
  ) {
    self.age = age
    self.most = most
    self.least = least
  }

  /// Whether a line of that time goes for its age, when so many lines are newer.
  public func isOld(_ time: Instant, newer: Int64, at now: Instant) -> Bool {
    newer >= least && time <= now - age
  }
}
