import Platform

/// A thread of this package that can be waited for.
final class Worker: Sendable {
  private let finished = Once<Bool>()

  init(_ name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
    let finished = finished
    try DedicatedThread.start(named: name) {
      body()
      finished.fulfil(true)
    }
  }

  /// Waits until the thread's work is over; not to be called by the thread itself.
  func join() { _ = finished.wait() }
}
