internal import Glibc
internal import RegentPlatform

/// A fixed number of threads with a queue of limited length.
final class WorkerThreads: Sendable {
  typealias Job = @Sendable () -> Void
  private let line: Line

  /// Starts the threads.
  ///
  /// Returns nil if no thread can be started.
  init?(count: Int, waiting: Int) {
    line = Line(limit: waiting)
    var started = 0
    for _ in 0..<count {
      let thread = try? DedicatedThread.start(named: "passwords") { [line] in line.work() }
      if thread != nil { started += 1 }
    }
    guard started > 0 else { return nil }
    line.threadsStarted(started)
  }

  deinit { line.close() }

  /// Queues a job.
  ///
  /// Returns false when the queue is full.
  func run(_ job: @escaping Job) -> Bool { line.append(job) }
}

/// The queue of jobs.
///
/// The threads keep it alive, not `WorkerThreads`, so that the owner can be released and the threads end.
// @unchecked Sendable:
// 1. `state` is a Locked.
// 2. The semaphore is made in `init` and may be used by several threads.
// 3. It is destroyed with the last reference, when no thread can wait on it any more.
@safe private final class Line: @unchecked Sendable {
  private struct LineState {
    var jobs: [WorkerThreads.Job] = []
    var threads = 0
    var isClosed = false
  }

  private let limit: Int
  private let state = Locked(LineState())
  private let wakeUps: UnsafeMutablePointer<sem_t>

  init(limit: Int) {
    self.limit = limit
    unsafe wakeUps = .allocate(capacity: 1)
    unsafe wakeUps.initialize(to: sem_t())
    unsafe sem_init(wakeUps, 0, 0)
  }

  deinit {
    unsafe sem_destroy(wakeUps)
    unsafe wakeUps.deallocate()
  }

  func threadsStarted(_ count: Int) {
    state.withLock { $0.threads = count }
  }

  func append(_ job: @escaping WorkerThreads.Job) -> Bool {
    let isAccepted = state.withLock { state in
      guard state.jobs.count < limit else { return false }
      state.jobs.append(job)
      return true
    }
    if isAccepted { unsafe sem_post(wakeUps) }
    return isAccepted
  }

  /// Lets the threads finish the queued jobs and then end.
  func close() {
    let threads = state.withLock { state in
      state.isClosed = true
      return state.threads
    }
    for _ in 0..<threads { unsafe sem_post(wakeUps) }
  }

  /// The loop that each thread runs.
  func work() {
    while true {
      while unsafe sem_wait(wakeUps) != 0 {}
      let (job, isClosed) = state.withLock { state in
        (state.jobs.isEmpty ? nil : state.jobs.removeFirst(), state.isClosed)
      }
      if let job { job() } else if isClosed { return }
    }
  }
}
