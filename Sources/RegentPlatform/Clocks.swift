import Glibc

/// The kernel's clocks.
///
/// Programs read them at the top level and pass times down as arguments.
public enum Clocks {
  /// The wall clock in milliseconds since 1970, for expiry times.
  ///
  /// It may jump in both directions.
  public static func wallMilliseconds() -> Int64 {
    let time = read(CLOCK_REALTIME)
    return Int64(time.tv_sec) &* 1_000 &+ Int64(time.tv_nsec) / 1_000_000
  }

  /// Nanoseconds since the machine started, including sleep, for intervals and lock-outs.
  ///
  /// This clock never jumps.
  public static func bootNanoseconds() -> UInt64 {
    nanoseconds(read(CLOCK_BOOTTIME))
  }

  /// How long ago a time on the boot clock was, in nanoseconds.
  ///
  /// It is 0 when the clock went backwards, which happens only on faulty hardware.
  public static func bootNanoseconds(since start: UInt64) -> UInt64 { span(from: start, to: bootNanoseconds()) }

  /// The time of the monotonic clock in nanoseconds, with which threads wait.
  ///
  /// Unlike the boot clock, it stands still while the machine is suspended.
  public static func monotonicNanoseconds() -> UInt64 { nanoseconds(read(CLOCK_MONOTONIC)) }

  /// How long ago a time on the monotonic clock was, in nanoseconds.
  public static func monotonicNanoseconds(since start: UInt64) -> UInt64 {
    span(from: start, to: monotonicNanoseconds())
  }

  /// How long the machine has been suspended since it started, in nanoseconds.
  ///
  /// The result is accurate to the time that passes between reading the two clocks.
  public static func sleptNanoseconds() -> UInt64 { span(from: monotonicNanoseconds(), to: bootNanoseconds()) }

  /// The time for systemd's reload message, which must be on the monotonic clock.
  static func monotonicMicroseconds() -> UInt64 {
    nanoseconds(read(CLOCK_MONOTONIC)) / 1_000
  }

  private static func span(from start: UInt64, to now: UInt64) -> UInt64 { now > start ? now - start : 0 }

  private static func read(_ clock: clockid_t) -> timespec {
    var time = timespec()
    // The clocks that this target reads exist on every supported Linux, and the call cannot fail otherwise.
    _ = unsafe clock_gettime(clock, &time)
    return time
  }

  private static func nanoseconds(_ time: timespec) -> UInt64 {
    UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
  }
}

extension Duration {
  /// The duration in nanoseconds, limited to the range from 0 to 9·10¹⁸ (about 285 years).
  public var wholeNanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    guard seconds < 9_000_000_000 else { return 9_000_000_000_000_000_000 }
    return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
  }
}
