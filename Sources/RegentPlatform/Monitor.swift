// The import is public, because code that is inlined into other modules uses it.
public import Glibc

/// A value protected by a lock, with a condition variable to wait for changes.
///
/// Never hold the lock during I/O.
//
// Not `Synchronization.Mutex`: it cannot wait for a change, and ThreadSanitizer does not see its lock.
// @unchecked Sendable, because:
// 1. `state` is accessed only between lock and unlock of `mutex`;
// 2. the values that `withLock` and `wait` return are Sendable or were never shared;
// 3. the two C objects never move: they stay on the heap from init to deinit.
@safe public final class Monitor<State>: @unchecked Sendable {
  @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
  @usableFromInline let changed: UnsafeMutablePointer<pthread_cond_t>
  @usableFromInline var state: State

  public init(_ state: sending State) {
    self.state = state
    unsafe mutex = .allocate(capacity: 1)
    unsafe changed = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe changed.initialize(to: pthread_cond_t())
    unsafe pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    // The condition variable uses the monotonic clock, because deadlines must not move when the wall clock is set.
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(changed, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
  }

  deinit {
    unsafe pthread_cond_destroy(changed)
    unsafe pthread_mutex_destroy(mutex)
    unsafe changed.deallocate()
    unsafe mutex.deallocate()
  }

  /// Reads or changes the value.
  ///
  /// Call `wakeOne` or `wakeAll` afterwards if other threads wait for the change.
  @inlinable
  public func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try body(&state)
  }

  /// Waits until `body` returns a value.
  ///
  /// Calls it again after each wake-up, and a last time at the deadline (``Clocks/monotonicNanoseconds()``).
  @inlinable
  public func wait<Result>(
    until deadline: UInt64? = nil, for body: (inout State) -> Result?
  ) -> Result? {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&state) { return result }
      guard let deadline else {
        unsafe pthread_cond_wait(changed, mutex)
        continue
      }
      var time = timespec(
        tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
      if unsafe pthread_cond_timedwait(changed, mutex, &time) == ETIMEDOUT { return body(&state) }
    }
  }

  /// Wakes one waiting thread.
  public func wakeOne() { unsafe pthread_cond_signal(changed) }

  /// Wakes every waiting thread.
  public func wakeAll() { unsafe pthread_cond_broadcast(changed) }
}

extension Monitor<Bool> {
  /// Ends all current and future calls of `rest(until:)`.
  public func end() {
    withLock { $0 = true }
    wakeAll()
  }

  /// Waits until a time on the monotonic clock, or until `end()` is called.
  ///
  /// - Returns: whether `end()` was called.
  @discardableResult
  public func rest(until moment: UInt64) -> Bool { wait(until: moment) { $0 ? true : nil } != nil }
}
