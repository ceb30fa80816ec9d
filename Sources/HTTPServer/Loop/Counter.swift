internal import Synchronization

/// A number that one thread changes and any thread reads.
struct Counter: ~Copyable {
  private let value = Atomic<Int>(0)

  /// Adds without a locked instruction: only the owning thread calls it.
  @inline(__always)
  func add(_ amount: Int = 1) {
    value.store(value.load(ordering: .relaxed) &+ amount, ordering: .relaxed)
  }

  var now: Int { value.load(ordering: .relaxed) }
}
