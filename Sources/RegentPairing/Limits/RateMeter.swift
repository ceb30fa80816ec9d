/// One every so often, and so many at once after a quiet time.
public struct RateLimit: Hashable, Sendable {
  /// For one device: 20 requests a second, 100 at once.
  public static let device = RateLimit(perSecond: 20, burst: 100)
  /// For what is new at one network address: 1 a second, 100 at once.
  public static let newcomers = RateLimit(perSecond: 1, burst: 100)

  /// For one account's new permits: 300 titles that were not open before at once, then one a second.
  public static let permits = RateLimit(perSecond: 1, burst: 300)

  /// For one device's codes in the place of its own: 30 at once, then one in ten seconds.
  public static let replacements = RateLimit(oneEvery: .seconds(10), burst: 30)

  /// After how many microseconds the next one may follow, for ever.
  let interval: Int64
  /// How many at once.
  public let burst: Int

  /// A limit; both numbers are at least one.
  public init(perSecond: Int, burst: Int) {
    self.init(oneEvery: .microseconds(1_000_000 / max(perSecond, 1)), burst: burst)
  }

  /// A limit for what is rare.
  public init(oneEvery interval: Duration, burst: Int) {
    self.interval = max(Int64(interval / .microseconds(1)), 1)
    self.burst = max(burst, 1)
  }

  /// So many times as much.
  public func times(_ factor: Int) -> RateLimit {
    RateLimit(oneEvery: .microseconds(interval / Int64(max(factor, 1))), burst: burst * max(factor, 1))
  }

  /// So many times as much at once, and no more afterwards.
  public func with(burst factor: Int) -> RateLimit {
    let (product, overflows) = burst.multipliedReportingOverflow(by: factor)
    return RateLimit(oneEvery: .microseconds(interval), burst: overflows ? .max : product)
  }

  /// The part of one of so many who have it together; as much at once as `least`, unless that is more than all of it.
  public func divided(among count: Int, least: Int = 1) -> RateLimit {
    RateLimit(
      oneEvery: .microseconds(slowed(by: count).interval), burst: max(burst / max(count, 1), min(least, burst)))
  }

  /// As much at once, and afterwards so many times more seldom.
  public func slowed(by factor: Int) -> RateLimit {
    let (slow, overflow) = interval.multipliedReportingOverflow(by: Int64(max(factor, 1)))
    return RateLimit(oneEvery: .microseconds(overflow ? .max : slow), burst: burst)
  }
}

/// What one caller has used of its limit: a token bucket in eight bytes.
///
/// Instead of a level and the time of its last change it keeps the time at which the bucket will be full again (the
/// "generic cell rate algorithm"): 100,000 devices cost less than a megabyte, and no timer refills anything.
public struct RateMeter: Hashable, Sendable {
  /// Microseconds since boot at which the bucket is full again.
  private var fullAt: Int64 = .min

  /// A full bucket.
  public init() {}

  /// Takes one; otherwise says after how long the next try can succeed.
  public mutating func take(of limit: RateLimit, at now: Uptime) -> RateVerdict {
    let (scaled, overflow) = now.milliseconds.multipliedReportingOverflow(by: 1000)
    let now = overflow ? Int64.max / 2 : scaled
    let price = limit.interval
    let room = price * Int64(limit.burst)
    let after = max(fullAt, now) + price
    guard after - now <= room else { return .over(retryAfter: .microseconds(after - now - room)) }
    fullAt = after
    return .within
  }

  /// Whether nothing would be lost by forgetting this meter.
  public func isFull(at now: Uptime) -> Bool {
    fullAt <= now.milliseconds.multipliedReportingOverflow(by: 1000).partialValue
  }
}

/// What a limit says.
public enum RateVerdict: Hashable, Sendable {
  /// Go on.
  case within
  /// Too many; again after so long.
  case over(retryAfter: Duration)
}
