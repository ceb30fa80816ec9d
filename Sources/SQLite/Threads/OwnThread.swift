import Glibc
import Synchronization

/// A thread of our own, outside Swift's pool, which must never wait for a disk.
final class OwnThread: Sendable {
  private let handle: Mutex<pthread_t?>

  /// Starts a thread that runs `body` and ends.
  ///
  /// - Parameters:
  ///   - name: at most 15 letters, shown by `top -H`.
  ///   - body: what the thread does.
  init(_ name: String, _ body: @escaping @Sendable () -> Void) throws(SQLiteError) {
    var made = pthread_t()
    let start = unsafe Unmanaged.passRetained(ThreadStart(name, body))
    // Signals are for the program's main thread: this one starts with all of them blocked.
    var all = sigset_t()
    var before = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_BLOCK, &all, &before)
    let code = unsafe pthread_create(&made, nil, runThread, start.toOpaque())
    unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
    guard code == 0 else {
      unsafe start.release()
      throw SQLiteError(code: .noMemory, message: "cannot start a thread (errno \(code))")
    }
    handle = Mutex(made)
  }

  deinit {
    handle.withLock { handle in
      if let handle { pthread_detach(handle) }
    }
  }

  /// Waits until the thread has ended. The first caller waits; it must not be the thread itself.
  func join() {
    let handle = handle.withLock { $0.take() }
    if let handle { unsafe pthread_join(handle, nil) }
  }
}

private final class ThreadStart: Sendable {
  let name: String
  let body: @Sendable () -> Void

  init(_ name: String, _ body: @escaping @Sendable () -> Void) {
    self.name = name
    self.body = body
  }
}

private func runThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context = unsafe context else { return nil }
  let start = unsafe Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue()
  // The kernel's own interface: it needs no declaration that Glibc's module hides.
  _ = unsafe prctl(PR_SET_NAME, start.name)
  start.body()
  return nil
}
