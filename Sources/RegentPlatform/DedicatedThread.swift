import CRegentLinux
import Glibc

/// A thread of our own, for calls that block: the concurrency pool has only as many threads as cores.
public enum DedicatedThread {
  /// Starts a detached thread; it ends when the body returns.
  ///
  /// - Parameters:
  ///   - name: what `top -H` and a debugger show; the kernel keeps 15 bytes.
  ///   - body: what the thread does.
  /// - Throws: `SystemError` when the kernel has no thread to give.
  public static func start(
    named name: String, _ body: @escaping @Sendable () -> Void
  ) throws(SystemError) {
    let box = unsafe Unmanaged.passRetained(ThreadBody(name: name, body: body))
    var attributes = pthread_attr_t()
    unsafe pthread_attr_init(&attributes)
    defer { unsafe pthread_attr_destroy(&attributes) }
    unsafe pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
    var handle = pthread_t()
    let code = unsafe pthread_create(&handle, &attributes, runThread, box.toOpaque())
    guard code == 0 else {
      unsafe box.release()
      throw SystemError(operation: "start thread", subject: name, code: code)
    }
  }
}

private final class ThreadBody: Sendable {
  let name: String
  let body: @Sendable () -> Void

  init(name: String, body: @escaping @Sendable () -> Void) {
    self.name = name
    self.body = body
  }
}

private func runThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context = unsafe context else { return nil }
  let thread = unsafe Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue()
  unsafe regent_name_thread(thread.name)
  // A library that writes to a closed socket must get an error, not end the program.
  var brokenPipe = sigset_t()
  unsafe sigemptyset(&brokenPipe)
  unsafe sigaddset(&brokenPipe, SIGPIPE)
  _ = unsafe pthread_sigmask(SIG_BLOCK, &brokenPipe, nil)
  thread.body()
  return nil
}
