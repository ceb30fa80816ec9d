/// Runs jobs one after another on a thread that exists only while there are jobs.
///
/// For code of an app that may block: Swift's pool has only as many threads as cores, and a blocked thread delays all
/// tasks.
public final class OnDemandThread: TaskExecutor {
  private struct OnDemandThreadState: Sendable {
    var jobs: [UnownedJob] = []
    var isRunning = false
  }

  private let name: String
  private let state = Locked(OnDemandThreadState())

  public init(named name: String) { self.name = name }

  /// Queues a job.
  ///
  /// Starts the thread if it is not running.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isFirst = state.withLock { state in
      state.jobs.append(job)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    guard isFirst else { return }
    // If no thread can be started, the jobs run on the calling thread: slow is better than never.
    do { try DedicatedThread.start(named: name) { self.drain() } } catch { drain() }
  }

  private func drain() {
    while true {
      let job = state.withLock { state -> UnownedJob? in
        guard state.jobs.isEmpty else { return state.jobs.removeFirst() }
        state.isRunning = false
        return nil
      }
      guard let job else { return }
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}
