import Glibc

/// Ends a thread that waits for a descriptor.
final class StopSwitch: Sendable {
  enum Outcome { case ready, stopped, timedOut }

  private let wakeUp: WakeUp

  init() throws(SystemError) { wakeUp = try WakeUp() }

  func stop() { wakeUp.signal() }

  /// Waits until the descriptor has something or the switch was thrown.
  ///
  /// - Parameters:
  ///   - number: the descriptor.
  ///   - events: what the wait is for; errors and hang-ups always are.
  ///   - milliseconds: at most so long; -1 means for ever.
  /// - Returns: which of the three ended the wait.
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
    // An interrupted wait looks like readiness; the caller's read is non-blocking and finds nothing.
    return count == 0 ? .timedOut : .ready
  }
}

/// A descriptor that a thread's closure keeps open.
final class SharedDescriptor: Sendable {
  private let descriptor: FileDescriptor
  var number: CInt { descriptor.number }

  init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
}
