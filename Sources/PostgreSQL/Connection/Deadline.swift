import Glibc
import RegentPlatform

/// The moment by which something has to be over, on a clock that never jumps.
public struct Deadline: Sendable {
  let bootNanoseconds: UInt64

  /// The moment in so much time from now.
  public static func after(_ duration: Duration) -> Deadline {
    Deadline(bootNanoseconds: Clocks.bootNanoseconds() &+ duration.wholeNanoseconds)
  }

  /// The earlier of the two.
  static func earlier(_ one: Deadline, _ other: Deadline) -> Deadline {
    one.bootNanoseconds < other.bootNanoseconds ? one : other
  }

  /// What is left, rounded up, for `poll`; 0 when it is over.
  var milliseconds: CInt {
    let now = Clocks.bootNanoseconds()
    guard bootNanoseconds > now else { return 0 }
    return CInt(clamping: (bootNanoseconds - now) / 1_000_000 + 1)
  }

  /// Waits for one of the events on a descriptor.
  ///
  /// - Returns: what there is, 0 when it is over. An error or a hang-up counts as every event.
  func wait(for events: CInt, on number: CInt) -> CInt {
    // libpq has given the socket up: whoever asks it next hears why. `poll` would wait for nothing.
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
