/// A point in time on one clock, in whole milliseconds.
///
/// The clock is part of the type, so that an expiry (wall clock) cannot be compared with a lock-out (boot clock).
/// Such a comparison would go wrong when the wall clock is set back.
public struct Moment<Clock>: Hashable, Comparable, Sendable {
  /// The milliseconds since the zero of the clock.
  public let milliseconds: Int64

  public init(milliseconds: Int64) {
    self.milliseconds = milliseconds
  }

  public static func < (earlier: Self, later: Self) -> Bool {
    earlier.milliseconds < later.milliseconds
  }

  /// The time that is later by `span`, or the last possible time on overflow.
  ///
  /// A wrapped overflow would be a time in the past.
  public static func + (moment: Self, span: Duration) -> Self {
    let (sum, overflow) = moment.milliseconds.addingReportingOverflow(span.wholeMilliseconds)
    guard overflow else { return Self(milliseconds: sum) }
    return Self(milliseconds: span < .zero ? .min : .max)
  }

  /// The time that is earlier by `span`, or the first possible time on overflow.
  public static func - (moment: Self, span: Duration) -> Self {
    let (difference, overflow) = moment.milliseconds.subtractingReportingOverflow(
      span.wholeMilliseconds)
    guard overflow else { return Self(milliseconds: difference) }
    return Self(milliseconds: span < .zero ? .max : .min)
  }

  /// The duration from `earlier` to this time; negative if this time is before it.
  public func since(_ earlier: Self) -> Duration {
    let (difference, overflow) = milliseconds.subtractingReportingOverflow(earlier.milliseconds)
    guard overflow else { return .milliseconds(difference) }
    return .milliseconds(self < earlier ? Int64.min : Int64.max)
  }
}

/// The clock for expiries: milliseconds since 1970-01-01 UTC.
///
/// The wall clock may be set, and it continues while the machine is off.
public enum WallClock {}

/// The clock for intervals and lock-outs: milliseconds since the machine started, never going back.
public enum BootClock {}

/// A point in wall-clock time, in milliseconds since 1970, used for expiries.
public typealias Instant = Moment<WallClock>

/// A point in time since boot, used for intervals and limits.
public typealias Uptime = Moment<BootClock>

extension Instant {
  /// Creates a time from seconds since 1970, as tokens contain them; nil if it overflows.
  package init?(seconds: Int64) {
    let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    guard !overflow else { return nil }
    self.init(milliseconds: milliseconds)
  }
}

extension Duration {
  /// The duration in whole milliseconds, rounded towards zero; on overflow the largest or smallest value.
  public var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (fromSeconds, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    let (sum, carry) = fromSeconds.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
    guard overflow || carry else { return sum }
    return self < .zero ? .min : .max
  }
}
