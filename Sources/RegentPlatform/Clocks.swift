import Glibc

/// The kernel's clocks, read at the edge of a program and passed down as arguments.
public enum Clocks {
  /// The wall clock in milliseconds since 1970, for expiries; it may jump in both directions.
  ///
  /// - Returns: epoch milliseconds.
  public static func wallMilliseconds() -> Int64 {
    let time = read(CLOCK_REALTIME)
    return Int64(time.tv_sec) &* 1_000 &+ Int64(time.tv_nsec) / 1_000_000
  }

  /// Nanoseconds since the machine started, sleep included, for intervals and lock-outs.
  ///
  /// It never jumps, in neither direction.
  ///
  /// - Returns: nanoseconds since boot.
  public static func bootNanoseconds() -> UInt64 {
    nanoseconds(read(CLOCK_BOOTTIME))
  }

  /// How long ago a time since boot was.
  ///
  /// - Returns: nanoseconds; 0 when the clock went back, which no kernel's does but that of a faulty machine.
  public static func bootNanoseconds(since start: UInt64) -> UInt64 { span(from: start, to: bootNanoseconds()) }

  /// Nanoseconds of the clock that waits are measured with: like the one since boot, without sleep.
  public static func monotonicNanoseconds() -> UInt64 { nanoseconds(read(CLOCK_MONOTONIC)) }

  /// How long ago a time of that clock was, as for the one since boot.
  public static func monotonicNanoseconds(since start: UInt64) -> UInt64 {
    span(from: start, to: monotonicNanoseconds())
  }

  /// How long the machine has slept since it started, in nanoseconds, to within what passes between two readings.
  public static func sleptNanoseconds() -> UInt64 { span(from: monotonicNanoseconds(), to: bootNanoseconds()) }

  /// The clock that systemd wants in its reload message.
  static func monotonicMicroseconds() -> UInt64 {
    nanoseconds(read(CLOCK_MONOTONIC)) / 1_000
  }

  private static func span(from start: UInt64, to now: UInt64) -> UInt64 { now > start ? now - start : 0 }

  private static func read(_ clock: clockid_t) -> timespec {
    var time = timespec()
    // These three clocks exist on every Linux that can run this program; the call has no other way to fail.
    _ = unsafe clock_gettime(clock, &time)
    return time
  }

  private static func nanoseconds(_ time: timespec) -> UInt64 {
    UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }
}

extension Duration {
  /// The duration in nanoseconds, never negative and never overflowing.
  public var wholeNanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    guard seconds < 9_000_000_000 else { return 9_000_000_000_000_000_000 }
    return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
  }
}
