// Public, because what stands in the locks of other modules is compiled into them.
public import Glibc

/// A value that one thread at a time can reach.
///
/// It is used like `Synchronization.Mutex`, but built on a POSIX mutex: a contended `Mutex` is handed over inside the
/// kernel, where ThreadSanitizer sees nothing, so it reports races that are none, and real ones drown in them.
///
/// `@unchecked Sendable`, because: 1. `value` is reached only in `withLock`, between lock and unlock of `mutex`;
/// 2. both stay where they are until `deinit`, when nobody else can have the struct any more.
@safe public struct Locked<Value: Sendable>: ~Copyable, @unchecked Sendable {
  @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
  @usableFromInline let value: UnsafeMutablePointer<Value>

  /// Puts a value behind a lock of its own.
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

  /// Lends the value to `body` while no other thread can have it; `body` must not come back for the same lock.
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
