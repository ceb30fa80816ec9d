/// A rate limit: one request per interval on average, with a burst after a quiet time.
public struct RateLimit: Hashable, Sendable {
  /// The limit for requests of one device: 20 a second, with a burst of 100.
  public static let device = RateLimit(perSecond: 20, burst: 100)
  /// The limit for requests that create database rows, per network address: 1 a second, with a burst of 100.
  public static let newcomers = RateLimit(perSecond: 1, burst: 100)

  /// The limit for new permits (stored authorizations) of one account: 1 a second, with a burst of 300 new titles.
  public static let permits = RateLimit(perSecond: 1, burst: 300)

  /// The limit for new codes with which one device replaces its own code: one in ten seconds, with a burst of 30.
  public static let replacements = RateLimit(oneEvery: .seconds(10), burst: 30)

  /// The average interval between requests, in microseconds.
  let interval: Int64
  /// How many requests may come at once.
  public let burst: Int

  /// Creates a limit from a number of requests per second.
  ///
  /// Values below 1 count as 1.
  public init(perSecond: Int, burst: Int) {
    self.init(oneEvery: .microseconds(1_000_000 / max(perSecond, 1)), burst: burst)
  }

  /// Creates a limit for rare requests, from the interval between them.
  public init(oneEvery interval: Duration, burst: Int) {
    // Rounded down to a number that fits: a conversion that overflows ends the process.
    self.interval = max(Int64(min(interval / .microseconds(1), 9e18)), 1)
    self.burst = max(burst, 1)
  }

  /// Returns a limit with both the rate and the burst multiplied.
  public func times(_ factor: Int) -> RateLimit {
    RateLimit(oneEvery: .microseconds(interval / Int64(max(factor, 1))), burst: Self.product(burst, max(factor, 1)))
  }

  /// Returns a limit with the burst multiplied; the rate stays the same.
  public func with(burst factor: Int) -> RateLimit {
    RateLimit(oneEvery: .microseconds(interval), burst: Self.product(burst, factor))
  }

  /// The product of a limit and a factor, at most `.max`: a product that wraps would make a large limit a small one.
  static func product<Number: FixedWidthInteger>(_ limit: Number, _ factor: Number) -> Number {
    let (product, overflows) = limit.multipliedReportingOverflow(by: factor)
    return overflows ? .max : product
  }

  /// The part of a shared limit that one of `count` nodes may use.
  ///
  /// The burst of the part is at least `least`, but never above the whole burst.
  public func divided(among count: Int, least: Int = 1) -> RateLimit {
    RateLimit(
      oneEvery: .microseconds(slowed(by: count).interval), burst: max(burst / max(count, 1), min(least, burst)))
  }

  /// Returns a limit with the rate divided; the burst stays the same.
  public func slowed(by factor: Int) -> RateLimit {
    RateLimit(oneEvery: .microseconds(Self.product(interval, Int64(max(factor, 1)))), burst: burst)
  }
}

/// A token bucket in eight bytes, which measures how much of a rate limit one caller has used.
///
/// It stores the time at which the bucket will be full again and not a level and a timestamp (the "generic cell rate
/// algorithm"). 100,000 devices take less than a megabyte, and no timer is needed.
public struct RateMeter: Hashable, Sendable {
  /// The time at which the bucket is full again, in microseconds since boot.
  private var fullAt: Int64 = .min

  public init() {}

  /// Takes one token.
  ///
  /// If there is no token, returns after how long the next try can succeed.
  public mutating func take(of limit: RateLimit, at now: Uptime) -> RateVerdict {
    let (scaled, overflow) = now.milliseconds.multipliedReportingOverflow(by: 1000)
    let now = overflow ? Int64.max / 2 : scaled
    let price = limit.interval
    let room = RateLimit.product(price, Int64(limit.burst))
    let (after, isTooLate) = max(fullAt, now).addingReportingOverflow(price)
    guard !isTooLate else { return .over(retryAfter: .microseconds(price)) }
    guard after - now <= room else { return .over(retryAfter: .microseconds(after - now - room)) }
    fullAt = after
    return .within
  }

  /// Whether the token bucket is full.
  ///
  /// Then removing this meter from memory changes nothing.
  public func isFull(at now: Uptime) -> Bool {
    fullAt <= RateLimit.product(now.milliseconds, 1000)
  }
}

public enum RateVerdict: Hashable, Sendable {
  /// The request is within the limit.
  case within
  /// The request is over the limit; the client may retry after the given time.
  case over(retryAfter: Duration)
}
