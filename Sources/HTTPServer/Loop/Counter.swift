internal import Synchronization

/// A number that one thread changes and that any thread may read.
struct Counter: ~Copyable {
  private let value = Atomic<Int>(0)

  /// Adds without an atomic read-modify-write, because only the owning thread calls it.
  @inline(__always)
  func add(_ amount: Int = 1) {
    value.store(value.load(ordering: .relaxed) &+ amount, ordering: .relaxed)
  }

  var now: Int { value.load(ordering: .relaxed) }
}
