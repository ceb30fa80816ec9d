internal import CRegentLinux
internal import Glibc
internal import RegentPlatform

/// The time of the monotonic clock in milliseconds.
@inline(__always)
func monotonicMilliseconds() -> UInt64 {
  Clocks.monotonicNanoseconds() / 1_000_000
}

/// Makes a `WakeUp`; throws its error as a `ServerError`.
func makeWakeUp() throws(ServerError) -> WakeUp {
  do throws(SystemError) {
    return try WakeUp()
  } catch {
    throw .resources(reason: error.description)
  }
}

extension Duration {
  /// The duration in milliseconds, rounded up.
  var milliseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    // A duration of ten years or more is as good as no limit. The clamped value cannot overflow.
    let rounded = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    return UInt64(min(seconds, 315_360_000)) * 1000 + UInt64(rounded)
  }
}
