internal import Glibc

/// Runs something that blocks on a thread of its own: the pool of the concurrency runtime has a thread per core only.
public func offPool<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
  await withCheckedContinuation { continuation in
    startThread { continuation.resume(returning: work()) }
  }
}

private final class Job: Sendable {
  let work: @Sendable () -> Void
  init(_ work: @escaping @Sendable () -> Void) { self.work = work }
}

/// Runs work on a thread of its own.
///
/// Tests that block share the concurrency pool with everything else: a task may have to wait for all of them.
public func startThread(_ work: @escaping @Sendable () -> Void) {
  let job = unsafe Unmanaged.passRetained(Job(work))
  var thread = pthread_t()
  let failed = unsafe pthread_create(&thread, nil, runJob, job.toOpaque())
  if failed == 0 {
    pthread_detach(thread)
  } else {
    // No thread to be had: better slow than not at all.
    unsafe job.takeRetainedValue().work()
  }
}

private func runJob(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  if let context = unsafe context {
    unsafe Unmanaged<Job>.fromOpaque(context).takeRetainedValue().work()
  }
  return nil
}
