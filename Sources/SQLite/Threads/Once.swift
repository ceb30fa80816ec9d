import RegentPlatform

/// A result that one thread sets once and other threads wait for.
final class Once<Value: Sendable>: Sendable {
  private let monitor = Monitor<Value?>(nil)

  func fulfil(_ value: Value) {
    monitor.withLock { $0 = value }
    monitor.wakeAll()
  }

  func wait(until deadline: UInt64? = nil) -> Value? { monitor.wait(until: deadline) { $0 } }
}
