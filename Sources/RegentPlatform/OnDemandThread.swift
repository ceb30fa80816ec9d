/// Runs jobs one after another on a thread that is there only while there are any.
///
/// For code of somebody else's that may block: the concurrency pool has as many threads as cores, and one that sleeps
/// there holds up everybody.
public final class OnDemandThread: TaskExecutor {
  private struct State: Sendable {
    var jobs: [UnownedJob] = []
    var isRunning = false
  }

  private let name: String
  private let state = Locked(State())

  /// - Parameter name: what `top -H` and a debugger show; the kernel keeps 15 bytes.
  public init(named name: String) { self.name = name }

  /// Takes a job; the thread is started for the first one.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isFirst = state.withLock { state in
      state.jobs.append(job)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    guard isFirst else { return }
    // No thread to be had: better slow than not at all.
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
