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

  public init(count: Int, span: Duration) {
    self.count = max(count, 1)
    self.span = span
  }

  /// So many times as many in so many times as long: as many a day, and more of them at once.
  public func widened(by factor: Int) -> FailureLimit {
    FailureLimit(count: times(factor).count, span: span * max(factor, 1))
  }

  /// So many times as many in the same time.
  public func times(_ factor: Int) -> FailureLimit {
    FailureLimit(count: count.multipliedReportingOverflow(by: factor).partialValue, span: span)
  }
}

/// The failures of one source within its span: an exact sliding window, as long as the limit.
///
/// A success gives nothing back: who may try one known code in between would otherwise guess for ever (Abblix #165).
public struct FailureBudget: Hashable, Sendable {
  private struct Failure: Hashable {
    let time: Uptime
    let mark: Int?
  }

  private var failures: [Failure] = []

  /// No failure yet.
  public init() {}

  /// Counts one failure, which may be one of a while ago; one with the mark of another that still counts is the same
  /// again, and is not.
  ///
  /// - Returns: whether it was counted.
  @discardableResult
  public mutating func fail(_ limit: FailureLimit, mark: Int? = nil, at now: Uptime) -> Bool {
    failures.removeAll { $0.time + limit.span <= now }
    if let mark, failures.contains(where: { $0.mark == mark }) { return false }
    let place = failures.lastIndex { $0.time <= now }.map { $0 + 1 } ?? 0
    failures.insert(Failure(time: now, mark: mark), at: place)
    if failures.count > limit.count { failures.removeFirst() }
    return true
  }

  /// How long this one has to stay away; none while it has tries left.
  public func blocked(_ limit: FailureLimit, at now: Uptime) -> Duration? {
    let recent = failures.filter { $0.time + limit.span > now }
    guard recent.count >= limit.count, let oldest = recent.first else { return nil }
    return (oldest.time + limit.span).since(now)
  }

  /// Whether there is a failure left that counts.
  public func isClean(_ limit: FailureLimit, at now: Uptime) -> Bool {
    failures.allSatisfy { $0.time + limit.span <= now }
  }
}
