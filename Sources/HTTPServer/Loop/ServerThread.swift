internal import CRegentLinux
internal import Glibc

/// A thread of the server with every signal blocked, so that signals reach the threads of the program instead.
@safe struct ServerThread: Sendable {
  private let handle: pthread_t

  /// Starts a thread that runs `body`.
  init(_ name: String, _ body: @escaping @Sendable () -> Void) throws(ServerError) {
    var handle = pthread_t()
    var all = sigset_t()
    var before = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    let box = unsafe Unmanaged.passRetained(
      Work {
        unsafe regent_name_thread(name)
        body()
      })
    let result = unsafe pthread_create(&handle, nil, runWork, box.toOpaque())
    guard result == 0 else {
      unsafe box.release()
      throw .resources(reason: "no thread: \(errorText(result))")
    }
    self.handle = handle
  }

  /// Waits for its end.
  func join() { pthread_join(handle, nil) }
}

private final class Work: Sendable {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// At file scope, because a closure given to C from an isolated place would trap on another thread.
private func runWork(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  if let context = unsafe context {
    unsafe Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body()
  }
  return nil
}
