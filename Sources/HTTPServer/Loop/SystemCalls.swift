internal import CRegentLinux
internal import Glibc
internal import RegentPlatform

/// Milliseconds of a clock that never goes back.
@inline(__always)
func monotonicMilliseconds() -> UInt64 {
  Clocks.monotonicNanoseconds() / 1_000_000
}

/// A platform `WakeUp`, its failure told as the server's.
func makeWakeUp() throws(ServerError) -> WakeUp {
  do throws(SystemError) {
    return try WakeUp()
  } catch {
    throw .resources(reason: error.description)
  }
}

extension Duration {
  /// Whole milliseconds, at least 1 for anything above nothing.
  var milliseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    // Ten years are as good as for ever, and far from overflow.
    let rounded = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    return UInt64(min(seconds, 315_360_000)) * 1000 + UInt64(rounded)
  }
}
