// The import is public, because code that is inlined into other modules uses it.
public import Glibc

/// A value protected by a lock.
///
/// This type is used like `Synchronization.Mutex`, but built on a POSIX mutex. A contended `Mutex` is handed over
/// inside the kernel, which ThreadSanitizer does not see. ThreadSanitizer then reports races that do not exist, and the
/// real ones go unnoticed among them.
///
/// `@unchecked Sendable`, because: 1. `value` is accessed only in `withLock`, between lock and unlock of `mutex`;
/// 2. both stay at their addresses until `deinit`, when no other thread can have the struct any more.
@safe public struct Locked<Value: Sendable>: ~Copyable, @unchecked Sendable {
  @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
  @usableFromInline let value: UnsafeMutablePointer<Value>

  public init(_ initial: Value) {
    unsafe mutex = .allocate(capacity: 1)
    unsafe value = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe pthread_mutex_init(mutex, nil)
    unsafe value.initialize(to: initial)
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe value.deinitialize(count: 1)
    unsafe value.deallocate()
    unsafe mutex.deallocate()
  }

  /// Calls `body` with exclusive access to the value.
  ///
  /// `body` must not use the same lock.
  @inlinable
  @inline(__always)
  public func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return try unsafe body(&value.pointee)
  }
}
