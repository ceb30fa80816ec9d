import Glibc

/// Stops a thread that waits for a descriptor.
final class StopSwitch: Sendable {
  enum Outcome { case ready, stopped, timedOut }

  private let wakeUp: WakeUp

  init() throws(SystemError) { wakeUp = try WakeUp() }

  func stop() { wakeUp.signal() }

  /// Waits until the descriptor is ready, the time is over, or `stop()` is called.
  ///
  /// - Parameters:
  ///   - number: the descriptor.
  ///   - events: the events to wait for. Errors and hang-ups always count.
  ///   - milliseconds: how long to wait at most; -1 means no limit.
  /// - Returns: what ended the wait.
  func waits(for number: CInt, events: CInt = POLLIN, milliseconds: CInt = -1) -> Outcome {
    var watched = (
      pollfd(fd: number, events: Int16(events), revents: 0),
      pollfd(fd: wakeUp.number, events: Int16(POLLIN), revents: 0)
    )
    let count = unsafe withUnsafeMutablePointer(to: &watched) { pointer in
      unsafe pointer.withMemoryRebound(to: pollfd.self, capacity: 2) {
        unsafe poll($0, 2, milliseconds)
      }
    }
    if watched.1.revents != 0 { return .stopped }
    // A signal that interrupts the wait counts as readiness. The caller's read does not block, and finds no data.
    return count == 0 ? .timedOut : .ready
  }
}

/// A descriptor that stays open for as long as a thread's closure refers to it.
final class SharedDescriptor: Sendable {
  private let descriptor: FileDescriptor
  var number: CInt { descriptor.number }

  init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
}
