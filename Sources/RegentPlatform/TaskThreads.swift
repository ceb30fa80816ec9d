// The runtime's own executor is replaced here; the names it needs are not final in Swift 6.3, hence the marks.
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) internal import _Concurrency
internal import CRegentLinux
internal import Glibc

/// Runs the tasks of a program on a few threads that sleep until there is something to do.
///
/// On Linux tasks run on libdispatch, which looks after its threads once a second for as long as the program lives:
/// more wake-ups than all the work of a box that waits for a phone. And it wants its timer before everybody else, for
/// which Linux asks a privilege: without that, a line on standard error tells so at each start.
public enum TaskThreads {
  /// Takes over from libdispatch, sleeping tasks included; to be called once, before the first task exists.
  ///
  /// Without a descriptor to spare everything stays as it was. One of two threads may stand still at a terminal that
  /// somebody stopped with Ctrl-S; the other goes on.
  public static func takeOver(threads: Int = 2) {
    guard let pool = TaskThreadsFactory.pool else { return }
    pool.allow(threads)
    _createExecutors(factory: TaskThreadsFactory.self)
  }

  /// Makes the calling thread the first of them, for good, and has it run the body as a task.
  ///
  /// A thread of its own for the only task of a short command would be made, woken and waited for, and this one would
  /// sleep beside it.
  /// - Throws: `SystemError` when the kernel has no thread to give to the runtime's own pool, where ours cannot be: a
  ///   task would wait for one for ever, and nobody would learn why.
  public static func work(_ body: @escaping @Sendable () async -> Void) throws(SystemError) -> Never {
    guard let pool = TaskThreadsFactory.pool else {
      try DedicatedThread.start(named: "start") {}
      Task.detached { await body() }
      while true { pause() }
    }
    pool.countIn()
    Task.detached { await body() }
    DedicatedThread.takeTurns(.short)
    pool.work()
  }

  /// One for each core that this process may use, and two at least.
  public static var oneForEachCore: Int { max(2, Int(regent_usable_cores())) }

  /// Lets all threads take their memory from one place, for programs in which they seldom want some at the same time.
  ///
  /// Otherwise each gets an arena of its own, which glibc enlarges a page and a system call at a time.
  public static func shareOneHeap() { regent_share_one_heap() }
}

private struct TaskThreadsFactory: ExecutorFactory {
  static let pool = try? TaskPool()
  static var mainExecutor: any MainExecutor { PlatformExecutorFactory.mainExecutor }
  static var defaultExecutor: any TaskExecutor {
    if let pool { pool } else { PlatformExecutorFactory.defaultExecutor }
  }
}

/// Jobs in the order in which they came, and those whose time has not come yet.
///
/// `@unchecked Sendable`, because: 1. `state` has its lock; 2. `jobs` is a semaphore, made for many threads, and stays
/// where it is until the program ends; 3. `clock` is a descriptor that is never closed while this lives.
@safe private final class TaskPool: TaskExecutor, SchedulingExecutor, @unchecked Sendable {
  private let state = Locked(State())
  private let jobs: UnsafeMutablePointer<sem_t>
  private let clock: SharedDescriptor
  private static let threadName = "tasks"

  private struct State: Sendable {
    var ready: [UnownedJob] = []
    /// Those before it have been taken.
    var next = 0
    var threads = 0
    /// Threads that wait for a job, or have just been started to.
    var idle = 0
    /// Sorted, the last one is due first.
    var later: [Alarm] = []
    var hasTimer = false
    /// How many threads there may be.
    var most = 2
  }

  private struct Alarm: Sendable {
    var due: UInt64
    var job: UnownedJob
  }

  init() throws(SystemError) {
    // The clock that counts while the machine is suspended, as sleeping tasks are promised.
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

  /// The calling thread will ``work()``: nobody has to start one for the first job.
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

  /// What each thread does: one job after the other, without end.
  func work() -> Never {
    while true {
      while unsafe sem_wait(jobs) != 0 {}
      let job = state.withLock { state -> UnownedJob? in
        guard state.next < state.ready.count else { return nil }
        state.idle -= 1
        defer {
          state.next += 1
          // Also when it never runs empty: each job is moved once at most on average.
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

  /// What the timer's thread does: sleeps until the next job is due; an earlier one sets the clock anew under its
  /// sleep.
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
    // How long, not when: the timer then rings in time also where a debugger or a tester fakes the clock we read.
    let now = Clocks.bootNanoseconds()
    let left = due > now ? due - now : 1
    var time = itimerspec()
    time.it_value.tv_sec = Int(left / 1_000_000_000)
    time.it_value.tv_nsec = Int(left % 1_000_000_000)
    _ = unsafe timerfd_settime(clock.number, 0, &time, nil)
  }

  /// Without a thread nothing would ever go on: tries until there is one, as libdispatch does.
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
