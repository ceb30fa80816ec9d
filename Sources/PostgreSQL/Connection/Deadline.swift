import Glibc
import RegentPlatform

/// The time by which an operation must end, on the boot clock, which never jumps.
public struct Deadline: Sendable {
  let bootNanoseconds: UInt64

  /// Creates a deadline that is this long from now.
  public static func after(_ duration: Duration) -> Deadline {
    Deadline(bootNanoseconds: Clocks.bootNanoseconds() &+ duration.wholeNanoseconds)
  }

  static func earlier(_ one: Deadline, _ other: Deadline) -> Deadline {
    one.bootNanoseconds < other.bootNanoseconds ? one : other
  }

  /// The remaining time, rounded up, for `poll`; 0 after the deadline.
  var milliseconds: CInt {
    let now = Clocks.bootNanoseconds()
    guard bootNanoseconds > now else { return 0 }
    return CInt(clamping: (bootNanoseconds - now) / 1_000_000 + 1)
  }

  /// Waits until a file descriptor has one of the events.
  ///
  /// - Returns: the events that occurred; 0 at the deadline. An error or a hang-up counts as all of the events.
  func wait(for events: CInt, on number: CInt) -> CInt {
    // libpq has closed the socket, and its next call reports why. `poll` would ignore the negative number and wait
    // until the deadline.
    guard number >= 0 else { return events }
    while true {
      var waiting = pollfd(fd: number, events: Int16(events), revents: 0)
      let left = milliseconds
      let (count, code) = attempt { unsafe poll(&waiting, 1, left) }
      if count > 0 {
        let happened = CInt(waiting.revents)
        return happened & events == 0 ? events : happened & events
      }
      if code != EINTR, left == 0 || code != 0 { return 0 }
    }
  }
}
