/// How many failures are allowed within a sliding time window.
public struct FailureLimit: Hashable, Sendable {
  /// The limit for wrong codes from one source (network address) or one account: 5 within 10 minutes.
  public static let wrongCodes = FailureLimit(count: 5, span: .seconds(600))
  /// The limit for wrong codes from all sources together: 60 within a minute.
  public static let allWrongCodes = FailureLimit(count: 60, span: .seconds(60))

  public let count: Int
  public let span: Duration

  public init(count: Int, span: Duration) {
    self.count = max(count, 1)
    self.span = span
  }

  /// Returns a limit with both the count and the time span multiplied: the average rate stays the same, but more
  /// failures may come at once.
  public func widened(by factor: Int) -> FailureLimit {
    FailureLimit(count: times(factor).count, span: span * max(factor, 1))
  }

  /// Returns a limit with the count multiplied; the time span stays the same.
  public func times(_ factor: Int) -> FailureLimit {
    FailureLimit(count: RateLimit.product(count, max(factor, 1)), span: span)
  }
}

/// The recent failures of one source, account or browser: an exact sliding window.
///
/// A right code does not reset the count. Otherwise an attacker with one known code could use that code between guesses
/// and guess for ever (Abblix #165).
public struct FailureBudget: Hashable, Sendable {
  private struct Failure: Hashable {
    let time: Uptime
    let mark: Int?
  }

  private var failures: [Failure] = []

  public init() {}

  /// Counts one failure, also one that happened some time ago.
  ///
  /// A failure with the same `mark` as one in the window is a repetition of the same guess and is not counted again.
  ///
  /// - Returns: whether the failure was counted.
  @discardableResult
  public mutating func fail(_ limit: FailureLimit, mark: Int? = nil, at now: Uptime) -> Bool {
    failures.removeAll { $0.time + limit.span <= now }
    if let mark, failures.contains(where: { $0.mark == mark }) { return false }
    let place = failures.lastIndex { $0.time <= now }.map { $0 + 1 } ?? 0
    failures.insert(Failure(time: now, mark: mark), at: place)
    if failures.count > limit.count { failures.removeFirst() }
    return true
  }

  /// How long to refuse further tries after too many failures; nil while tries are left.
  public func blocked(_ limit: FailureLimit, at now: Uptime) -> Duration? {
    let recent = failures.filter { $0.time + limit.span > now }
    guard recent.count >= limit.count, let oldest = recent.first else { return nil }
    return (oldest.time + limit.span).since(now)
  }

  /// Whether no failure lies within the limit's time window.
  public func isClean(_ limit: FailureLimit, at now: Uptime) -> Bool {
    failures.allSatisfy { $0.time + limit.span <= now }
  }
}
