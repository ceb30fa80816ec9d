internal import Glibc

/// Runs blocking work on its own thread, because the thread pool of Swift concurrency has one thread for each core.
public func offPool<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
  await withCheckedContinuation { continuation in
    startThread { continuation.resume(returning: work()) }
  }
}

private final class Job: Sendable {
  let work: @Sendable () -> Void
  init(_ work: @escaping @Sendable () -> Void) { self.work = work }
}

/// Runs work on its own thread.
///
/// A blocking test on the pool of Swift concurrency would delay all other tasks.
public func startThread(_ work: @escaping @Sendable () -> Void) {
  let job = unsafe Unmanaged.passRetained(Job(work))
  var thread = pthread_t()
  let failed = unsafe pthread_create(&thread, nil, runJob, job.toOpaque())
  if failed == 0 {
    pthread_detach(thread)
  } else {
    // Without a new thread, run the work here: slow, but it runs.
    unsafe job.takeRetainedValue().work()
  }
}

private func runJob(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  if let context = unsafe context {
    unsafe Unmanaged<Job>.fromOpaque(context).takeRetainedValue().work()
  }
  return nil
}
