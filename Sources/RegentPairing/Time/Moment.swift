/// A point on one clock, in whole milliseconds.
///
/// The clock is part of the type: an expiry (wall clock) cannot be compared with a lock-out (boot-time clock), which
/// would break on the day somebody sets the wall clock back.
public struct Moment<Clock>: Hashable, Comparable, Sendable {
  /// Milliseconds since the clock's zero.
  public let milliseconds: Int64

  /// A point given in milliseconds since the clock's zero.
  public init(milliseconds: Int64) {
    self.milliseconds = milliseconds
  }

  /// Orders by time.
  public static func < (earlier: Self, later: Self) -> Bool {
    earlier.milliseconds < later.milliseconds
  }

  /// The point so much later; sums that do not fit stay at the end of time instead of wrapping into the past.
  public static func + (moment: Self, span: Duration) -> Self {
    let (sum, overflow) = moment.milliseconds.addingReportingOverflow(span.wholeMilliseconds)
    guard overflow else { return Self(milliseconds: sum) }
    return Self(milliseconds: span < .zero ? .min : .max)
  }

  /// The point so much earlier; sums that do not fit stay at the beginning of time.
  public static func - (moment: Self, span: Duration) -> Self {
    let (difference, overflow) = moment.milliseconds.subtractingReportingOverflow(
      span.wholeMilliseconds)
    guard overflow else { return Self(milliseconds: difference) }
    return Self(milliseconds: span < .zero ? .max : .min)
  }

  /// How long it is from `earlier` to here; negative when here comes first.
  public func since(_ earlier: Self) -> Duration {
    let (difference, overflow) = milliseconds.subtractingReportingOverflow(earlier.milliseconds)
    guard overflow else { return .milliseconds(difference) }
    return .milliseconds(self < earlier ? Int64.min : Int64.max)
  }
}

/// The clock of expiries: milliseconds since 1970-01-01 UTC; it may be set, and goes on while the machine is off.
public enum WallClock {}

/// The clock of intervals and lock-outs: milliseconds since the machine started; it never goes back.
public enum BootClock {}

/// A point in wall time, in epoch milliseconds: what expiries are made of.
public typealias Instant = Moment<WallClock>

/// A point in time since boot: what intervals and limits are measured with.
public typealias Uptime = Moment<BootClock>

extension Instant {
  /// A time that was told in seconds since 1970, as tokens tell it; nil for one that is further off than times go.
  package init?(seconds: Int64) {
    let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    guard !overflow else { return nil }
    self.init(milliseconds: milliseconds)
  }
}

extension Duration {
  /// The whole milliseconds of this span, towards zero; spans that do not fit become the largest that does.
  public var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (fromSeconds, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    let (sum, carry) = fromSeconds.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    guard overflow || carry else { return sum }
    return self < .zero ? .min : .max
  }
}
