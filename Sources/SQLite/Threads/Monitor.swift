import Glibc

/// A state under a lock, and waiting for it to change. The lock is held only for moments, never during I/O.
//
// Not `Synchronization.Mutex`: it cannot wait for a change, and ThreadSanitizer does not see its lock.
// @unchecked Sendable, because:
// 1. `state` is touched only between lock and unlock of `mutex`;
// 2. what `withLock` and `wait` hand out is Sendable or was never shared;
// 3. the two C objects never move: they live on the heap from init to deinit.
@safe package final class Monitor<State>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let changed: UnsafeMutablePointer<pthread_cond_t>
  private var state: State

  package init(_ state: sending State) {
    self.state = state
    unsafe mutex = .allocate(capacity: 1)
    unsafe changed = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe changed.initialize(to: pthread_cond_t())
    unsafe pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    // Deadlines must not move when somebody sets the wall clock.
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

  /// Looks at the state and changes it; call `wakeOne` or `wakeAll` when somebody waits for the change.
  package func withLock<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try body(&state)
  }

  /// Waits until `body` gives something, or until the deadline, when it is asked a last time.
  package func wait<Result>(
    until deadline: Nanoseconds? = nil, for body: (inout State) -> Result?
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
  func wakeOne() { unsafe pthread_cond_signal(changed) }

  /// Wakes every waiting thread.
  package func wakeAll() { unsafe pthread_cond_broadcast(changed) }
}

/// A time of the monotonic clock in nanoseconds, for waits and for measuring.
package typealias Nanoseconds = UInt64

/// How long ago a time was; 0 when the clock went back, which no kernel's does but that of a faulty machine.
func elapsed(since start: Nanoseconds) -> Nanoseconds {
  let now = monotonicNow()
  return now > start ? now - start : 0
}

/// The monotonic clock, which these threads use for nothing but intervals.
func monotonicNow() -> Nanoseconds {
  var time = timespec()
  unsafe clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
