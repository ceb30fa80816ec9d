// In Swift 6.3 a program can choose the executor of all its tasks only through experimental interfaces; hence the
// @_spi attributes. With REGENT_EXECUTOR=swift (Package.swift) this file is empty.
#if !SWIFT_EXECUTOR
  @_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) internal import _Concurrency
  internal import CRegentLinux
  internal import Glibc

  private struct TaskThreadsFactory: ExecutorFactory {
    static var mainExecutor: any MainExecutor { PlatformExecutorFactory.mainExecutor }
    static var defaultExecutor: any TaskExecutor {
      if let pool = TaskPool.shared { pool } else { PlatformExecutorFactory.defaultExecutor }
    }
  }

  /// The queue of jobs that are ready, and of jobs that are due later.
  ///
  /// `@unchecked Sendable`, because: 1. `state` has its lock; 2. `jobs` is a semaphore, which several threads may use,
  /// and it stays at its address until the program ends; 3. `clock` is a descriptor that stays open while this object
  /// lives.
  @safe final class TaskPool: TaskExecutor, SchedulingExecutor, @unchecked Sendable {
    private let state = Locked(TaskPoolState())
    private let jobs: UnsafeMutablePointer<sem_t>
    private let clock: SharedDescriptor
    private static let threadName = "tasks"
    /// The pool of this process; nil if no file descriptor was available for its timer.
    static let shared = try? TaskPool()

    /// Makes Swift run all tasks of the process in this pool.
    static func replaceExecutor() { _createExecutors(factory: TaskThreadsFactory.self) }

    private struct TaskPoolState: Sendable {
      var ready: [UnownedJob] = []
      /// The index of the first job in `ready` that no thread has taken yet.
      var next = 0
      var threads = 0
      /// The number of threads that wait for a job, including those that are just starting.
      var idle = 0
      /// The jobs that are due later, sorted by due time.
      ///
      /// The next one is last.
      var later: [Alarm] = []
      var hasTimer = false
      /// The maximum number of threads that run tasks.
      var most = 2
    }

    private struct Alarm: Sendable {
      var due: UInt64
      var job: UnownedJob
    }

    init() throws(SystemError) {
      // This clock counts while the machine is suspended, as Swift's `ContinuousClock` requires.
      let number = try systemCall("make", on: "a timer") {
        timerfd_create(CLOCK_BOOTTIME, CInt(TFD_CLOEXEC))
      }
      clock = SharedDescriptor(FileDescriptor(owning: number))
      unsafe jobs = .allocate(capacity: 1)
      unsafe sem_init(jobs, 0, 0)
    }

    deinit {
      unsafe sem_destroy(jobs)
      unsafe jobs.deallocate()
    }

    func allow(_ threads: Int) { state.withLock { $0.most = threads } }

    /// Counts the calling thread as one that waits for jobs.
    ///
    /// The thread is about to call ``work()``, so no other one is started for the first job.
    func countIn() {
      state.withLock { state in
        state.threads += 1
        state.idle += 1
      }
    }

    func enqueue(_ job: consuming ExecutorJob) { enqueue(UnownedJob(job)) }

    func enqueue(_ job: UnownedJob) {
      let needsThread = state.withLock { state in
        state.ready.append(job)
        guard state.ready.count - state.next > state.idle, state.threads < state.most else {
          return false
        }
        state.threads += 1
        state.idle += 1
        return true
      }
      unsafe sem_post(jobs)
      if needsThread { startThread(named: Self.threadName) { $0.work() } }
    }

    func enqueue<C: Clock>(
      _ job: consuming ExecutorJob, after delay: C.Duration, tolerance: C.Duration?, clock: C
    ) {
      enqueue(UnownedJob(job), after: delay as? Duration ?? .zero)
    }

    func enqueue<C: Clock>(
      _ job: consuming ExecutorJob, at instant: C.Instant, tolerance: C.Duration?, clock: C
    ) {
      enqueue(UnownedJob(job), after: clock.now.duration(to: instant) as? Duration ?? .zero)
    }

    private func enqueue(_ job: UnownedJob, after delay: Duration) {
      guard delay > .zero else { return enqueue(job) }
      let due = Clocks.bootNanoseconds() &+ min(delay, .seconds(1_000_000_000)).wholeNanoseconds
      let needsTimer = state.withLock { state in
        let place = state.later.firstIndex { $0.due <= due } ?? state.later.endIndex
        state.later.insert(Alarm(due: due, job: job), at: place)
        if place == state.later.endIndex - 1 { set(due) }
        defer { state.hasTimer = true }
        return !state.hasTimer
      }
      if needsTimer { startThread(named: "timer") { $0.ring() } }
    }

    /// The loop of each thread: runs one job after the other and never returns.
    func work() -> Never {
      while true {
        while unsafe sem_wait(jobs) != 0 {}
        let job = state.withLock { state -> UnownedJob? in
          guard state.next < state.ready.count else { return nil }
          state.idle -= 1
          defer {
            state.next += 1
            // Jobs that threads have taken are removed from the queue even if it never gets empty. Each job is moved at
            // most once on average.
            if state.next * 2 >= state.ready.count {
              state.ready.removeFirst(state.next)
              state.next = 0
            }
          }
          return state.ready[state.next]
        }
        guard let job else { continue }
        unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        state.withLock { $0.idle += 1 }
      }
    }

    /// The loop of the timer thread: sleeps until the next job is due.
    ///
    /// When a job is added that is due earlier, the timer is set again while the thread sleeps.
    private func ring() {
      while true {
        var count: UInt64 = 0
        _ = unsafe read(clock.number, &count, MemoryLayout<UInt64>.size)
        let due = state.withLock { state in
          let now = Clocks.bootNanoseconds()
          var due: [UnownedJob] = []
          while let alarm = state.later.last, alarm.due <= now {
            due.append(alarm.job)
            state.later.removeLast()
          }
          if let next = state.later.last { set(next.due) }
          return due
        }
        for job in due { enqueue(job) }
      }
    }

    private func set(_ due: UInt64) {
      // The timer is set to a duration and not to a time. It then fires even where a debugger or test tool fakes the
      // clock that is read here.
      let now = Clocks.bootNanoseconds()
      let left = due > now ? due - now : 1
      var time = itimerspec()
      time.it_value.tv_sec = Int(left / 1_000_000_000)
      time.it_value.tv_nsec = Int(left % 1_000_000_000)
      _ = unsafe timerfd_settime(clock.number, 0, &time, nil)
    }

    /// Tries again until a thread has started, as libdispatch does, because without a thread no task would ever
    /// continue.
    private func startThread(named name: String, _ body: @escaping @Sendable (TaskPool) -> Void) {
      while true {
        do throws(SystemError) {
          try DedicatedThread.start(named: name, turns: .short) { body(self) }
          return
        } catch {
          usleep(10_000)
        }
      }
    }
  }
#endif
