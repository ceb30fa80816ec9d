import CRegentLinux
import Glibc
import Synchronization

/// A separate thread for calls that block: Swift's pool has only as many threads as cores.
///
/// It ends when its body returns. A caller that keeps the value can wait for that with ``join()``.
// @unchecked Sendable: 1. `handle` is constant. 2. The rest is a lock and an object that is safe to share.
@safe public final class DedicatedThread: @unchecked Sendable {
  /// The signals that are blocked in the thread.
  public enum BlockedSignals: Sendable {
    /// Only SIGPIPE is blocked: a library that writes to a closed socket must get an error. The signal would end the
    /// program.
    case brokenPipe
    /// All signals are blocked from the thread's first instruction on, so that other threads of the program receive
    /// them.
    case everySignal
  }

  /// How long a thread keeps its core when other threads want it.
  ///
  /// A thread with a shorter time slice gets a core sooner and may interrupt threads with longer ones (Linux 6.12 and
  /// later; before, this has no effect).
  public enum Turns: Sendable {
    /// The kernel's default time slice of some milliseconds.
    case usual
    /// A time slice of 0.2 ms, for threads that answer requests.
    ///
    /// On a core that a flood keeps busy, an honest request would otherwise wait for a full time slice of each thread
    /// that serves the flood.
    case short
    /// A time slice of 0.1 ms: for a thread that has little to do and that others wait for, and for a thread that works
    /// long and yields by itself (``endTurn(begun:now:)``).
    case shortest

    fileprivate var nanoseconds: UInt? {
      switch self {
      case .usual: nil
      case .short: 200_000
      case .shortest: 100_000
      }
    }
  }

  /// Sets the time slice of the calling thread, which need not be a `DedicatedThread`.
  static func takeTurns(_ turns: Turns) {
    if let nanoseconds = turns.nanoseconds { regent_take_short_turns(nanoseconds) }
  }

  /// Yields the core to a waiting thread if the shortest time slice is over.
  ///
  /// If no thread waits, this costs one system call.
  ///
  /// The kernel checks time slices only at its tick, every 4 ms; in between only the thread itself can yield. The
  /// thread loses nothing by yielding, because its time slice is used up.
  ///
  /// - Parameters:
  ///   - begun: when the time slice began; set to `now` when the thread yields.
  ///   - now: the current time of the same clock, in nanoseconds.
  public static func endTurn(begun: inout UInt64, now: UInt64) {
    guard now &- begun >= 100_000 else { return }
    sched_yield()
    begun = now
  }

  private let handle: pthread_t
  private let body: ThreadBody
  private let isJoined = Locked(false)

  /// Starts a thread.
  ///
  /// - Parameters:
  ///   - name: the name that `top -H` and a debugger show; the kernel keeps 15 bytes.
  ///   - blocking: the signals that the thread does not receive.
  ///   - turns: the time slice, which is how long the thread keeps a core that other threads want.
  ///   - body: the code that the thread runs.
  /// - Returns: the thread, for ``join()``.
  /// - Throws: `SystemError` when the kernel cannot start another thread.
  @discardableResult
  public static func start(
    named name: String, blocking: BlockedSignals = .brokenPipe, turns: Turns = .usual,
    _ body: @escaping @Sendable () -> Void
  ) throws(SystemError) -> DedicatedThread {
    try DedicatedThread(ThreadBody(name: name, turns: turns, body: body), blocking)
  }

  private init(_ body: ThreadBody, _ blocking: BlockedSignals) throws(SystemError) {
    // A new thread inherits the signal mask of its creator.
    var blocked = sigset_t()
    var before = sigset_t()
    unsafe sigemptyset(&blocked)
    unsafe sigaddset(&blocked, SIGPIPE)
    if blocking == .everySignal { unsafe sigfillset(&blocked) }
    _ = unsafe pthread_sigmask(SIG_BLOCK, &blocked, &before)
    defer { _ = unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    let context = unsafe Unmanaged.passRetained(body)
    var handle = pthread_t()
    let code = unsafe pthread_create(&handle, nil, runThread, context.toOpaque())
    guard code == 0 else {
      unsafe context.release()
      throw SystemError(operation: "start thread", subject: body.name, code: code)
    }
    self.handle = handle
    self.body = body
  }

  deinit {
    // The last reference is released, so no caller can wait for the thread any more. The kernel may free the thread's
    // resources when it ends.
    if !isJoined.withLock({ $0 }) { pthread_detach(handle) }
  }

  /// Waits until the thread has ended.
  ///
  /// The thread itself must not call this, because it would wait for ever.
  public func join() {
    // The wait is under the lock, so that a second caller waits too.
    isJoined.withLock { isJoined in
      if !isJoined { pthread_join(handle, nil) }
      isJoined = true
    }
  }

  /// Whether the caller runs on this thread.
  public var isCurrent: Bool { body.thread.load(ordering: .acquiring) == pthread_self() }
}

private final class ThreadBody: Sendable {
  let name: String
  let turns: DedicatedThread.Turns
  let body: @Sendable () -> Void
  /// The thread while it runs the body; otherwise 0, because the kernel may give the number to another thread.
  let thread = Atomic<pthread_t>(0)

  init(name: String, turns: DedicatedThread.Turns, body: @escaping @Sendable () -> Void) {
    self.name = name
    self.turns = turns
    self.body = body
  }
}

/// The start routine of the thread.
///
/// It is at file scope because a closure passed to C from an actor-isolated place would trap on another thread.
private func runThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context = unsafe context else { return nil }
  let thread = unsafe Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue()
  unsafe regent_name_thread(thread.name)
  DedicatedThread.takeTurns(thread.turns)
  thread.thread.store(pthread_self(), ordering: .releasing)
  thread.body()
  thread.thread.store(0, ordering: .releasing)
  return nil
}
