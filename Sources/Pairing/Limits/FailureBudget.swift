/// So many failures within any span of so long.
public struct FailureLimit: Hashable, Sendable {
  /// Wrong codes of one source or account: 5 within 10 minutes.
  public static let wrongCodes = FailureLimit(count: 5, span: .seconds(600))
  /// Wrong codes of everybody together: 60 within a minute.
  public static let allWrongCodes = FailureLimit(count: 60, span: .seconds(60))

  /// How many.
  public let count: Int
  /// Within how long.
  public let span: Duration

  /// A limit of at least one failure.
  public init(count: Int, span: Duration) {
    self.count = max(count, 1)
    self.span = span
  }
}

/// The failures of one source within its span: an exact sliding window, as long as the limit.
///
/// A success gives nothing back: who may try one known code in between would otherwise guess for ever (Abblix #165).
public struct FailureBudget: Hashable, Sendable {
  private var times: [Uptime] = []

  /// No failure yet.
  public init() {}

  /// Counts one failure.
  public mutating func fail(_ limit: FailureLimit, at now: Uptime) {
    times.removeAll { $0 + limit.span <= now }
    if times.count >= limit.count { times.removeFirst() }
    times.append(now)
  }

  /// How long this one has to stay away; none while it has tries left.
  public func blocked(_ limit: FailureLimit, at now: Uptime) -> Duration? {
    let recent = times.filter { $0 + limit.span > now }
    guard recent.count >= limit.count, let oldest = recent.first else { return nil }
    return (oldest + limit.span).since(now)
  }

  /// Whether there is a failure left that counts.
  public func isClean(_ limit: FailureLimit, at now: Uptime) -> Bool {
    times.allSatisfy { $0 + limit.span <= now }
  }
}
