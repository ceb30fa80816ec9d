import CRegentLinux
import Glibc

/// Wakes a thread that waits in `poll` or `epoll`, from any other thread.
public struct WakeUp: ~Copyable, Sendable {
  private let event: FileDescriptor

  /// The number of the descriptor to poll.
  ///
  /// It is readable after `signal`.
  public var number: CInt { event.number }

  /// Creates the descriptor, which is not readable yet.
  ///
  /// - Throws: `SystemError` when no descriptor is available.
  public init() throws(SystemError) {
    event = FileDescriptor(
      owning: try systemCall("create", on: "an event descriptor") {
        eventfd(0, CInt(bitPattern: UInt32(O_CLOEXEC | O_NONBLOCK)))
      })
  }

  /// Makes the descriptor readable.
  ///
  /// Several signals before one `clear` count as one.
  public func signal() {
    // The write fails only when the counter is full, and then the descriptor is readable already.
    _ = eventfd_write(event.number, 1)
  }

  /// Makes the descriptor unreadable again.
  public func clear() {
    var count: eventfd_t = 0
    _ = unsafe eventfd_read(event.number, &count)
  }
}
