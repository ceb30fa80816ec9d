import Glibc
import RegentPlatform
import Synchronization

/// A thread of this package that can be waited for.
final class Worker: Sendable {
  private let finished = Once<Bool>()
  private let place = Place()

  init(_ name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
    let finished = finished
    let place = place
    try DedicatedThread.start(named: name) {
      place.thread.store(pthread_self(), ordering: .releasing)
      body()
      // The number may be given to another thread later.
      place.thread.store(0, ordering: .releasing)
      finished.fulfil(true)
    }
  }

  /// Waits until the thread's work is over; not to be called by the thread itself.
  func join() { _ = finished.wait() }

  /// Whether the caller runs on this thread, where waiting for it would never end.
  var isCurrent: Bool { place.thread.load(ordering: .acquiring) == pthread_self() }

  private final class Place: Sendable {
    let thread = Atomic<pthread_t>(0)
  }
}
