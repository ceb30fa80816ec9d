import Glibc

/// A time of the monotonic clock in nanoseconds, for waits and for measuring.
package typealias Nanoseconds = UInt64

/// How long ago a time was; 0 when the clock went back, which no kernel's does but that of a faulty machine.
func elapsed(since start: Nanoseconds) -> Nanoseconds {
  let now = monotonicNow()
  return now > start ? now - start : 0
}

/// The monotonic clock, which these threads use for nothing but intervals.
func monotonicNow() -> Nanoseconds {
  var time = timespec()
  unsafe clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
