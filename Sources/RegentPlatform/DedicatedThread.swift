import CRegentLinux
import Glibc
import Synchronization

/// A thread of our own, for calls that block: the concurrency pool has only as many threads as cores.
///
/// It ends when its body returns. Whoever keeps the value can wait for that; nobody has to keep it.
// @unchecked Sendable: 1. `handle` is constant. 2. The rest is a lock and an object that is safe to share.
@safe public final class DedicatedThread: @unchecked Sendable {
  /// Which signals never reach the thread.
  public enum BlockedSignals: Sendable {
    /// Only the one about a closed pipe: a library that writes to a closed socket must get an error, and must not end
    /// the program.
    case brokenPipe
    /// All of them, from its first instruction on, so that they reach the threads of the program.
    case everySignal
  }

  /// For how long a thread runs when others want its core.
  ///
  /// Who asks for less gets it sooner, and may interrupt those who ask for more (Linux 6.12 and later; before, the
  /// kernel decides).
  public enum Turns: Sendable {
    /// What the kernel gives: some milliseconds.
    case usual
    /// 0.2 ms. For threads on which answers depend: on a core that a flood keeps busy, an honest request would wait for
    /// whole turns of each thread that works for the flood.
    case short
    /// 0.1 ms, for a thread that has little to do and others wait for, and for one that works long and ends its turns
    /// by itself (``endTurn(begun:now:)``).
    case shortest

    fileprivate var nanoseconds: UInt? {
      switch self {
      case .usual: nil
      case .short: 200_000
      case .shortest: 100_000
      }
    }
  }

  /// Has the calling thread take such turns, which may be one that nobody here started.
  static func takeTurns(_ turns: Turns) {
    if let nanoseconds = turns.nanoseconds { regent_take_short_turns(nanoseconds) }
  }

  /// Gives the core to a thread that waits for it, when the shortest turn is over; with nobody waiting it costs a call.
  ///
  /// The kernel ends turns at its tick, which is every 4 ms: in between only the thread itself can. It loses nothing by
  /// that, as it has used what it asked for.
  ///
  /// - Parameters:
  ///   - begun: when the turn began; the next begins where this one ends.
  ///   - now: the same clock now, in nanoseconds.
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
  ///   - name: what `top -H` and a debugger show; the kernel keeps 15 bytes.
  ///   - blocking: which signals it does not take.
  ///   - turns: how long it keeps a core that others want.
  ///   - body: what the thread does.
  /// - Returns: the thread, to wait for.
  /// - Throws: `SystemError` when the kernel has no thread to give.
  @discardableResult
  public static func start(
    named name: String, blocking: BlockedSignals = .brokenPipe, turns: Turns = .usual,
    _ body: @escaping @Sendable () -> Void
  ) throws(SystemError) -> DedicatedThread {
    try DedicatedThread(ThreadBody(name: name, turns: turns, body: body), blocking)
  }

  private init(_ body: ThreadBody, _ blocking: BlockedSignals) throws(SystemError) {
    // A new thread begins with the blocked signals of its maker.
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
    // Nobody can wait for it any more: the kernel may forget it when it ends.
    if !isJoined.withLock({ $0 }) { pthread_detach(handle) }
  }

  /// Waits until the thread has ended; not to be called by the thread itself, which would wait for ever.
  public func join() {
    // Under the lock, so that a second caller waits as well.
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
  /// The thread that runs the body; 0 before and after, as the number may be given to another thread later.
  let thread = Atomic<pthread_t>(0)

  init(name: String, turns: DedicatedThread.Turns, body: @escaping @Sendable () -> Void) {
    self.name = name
    self.turns = turns
    self.body = body
  }
}

/// At file scope: a closure given to C from an isolated place would trap on another thread.
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
