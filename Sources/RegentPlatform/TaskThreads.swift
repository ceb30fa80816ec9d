internal import CRegentLinux
internal import Glibc

/// Runs a program's tasks on a few threads that sleep while there is nothing to do.
///
/// On Linux Swift runs tasks on libdispatch, which wakes up once a second for as long as the program lives to manage
/// its threads. On a box that waits for a phone, those are more wake-ups than all its work causes. libdispatch also
/// asks for a priority that needs a privilege. Without the privilege it prints a line to standard error at each start.
public enum TaskThreads {
  /// Whether this build replaces libdispatch.
  package static var replacesExecutor: Bool {
    #if SWIFT_EXECUTOR
      false
    #else
      true
    #endif
  }

  /// Replaces libdispatch for all tasks, including sleeping ones.
  ///
  /// Call it once, before the first task exists.
  ///
  /// If no file descriptor is available, libdispatch stays in use. With two threads, one may block while it writes to a
  /// terminal that was paused with Ctrl-S; the other continues.
  public static func takeOver(threads: Int = 2) {
    #if !SWIFT_EXECUTOR
      guard let pool = TaskPool.shared else { return }
      pool.allow(threads)
      TaskPool.replaceExecutor()
    #endif
  }

  /// Makes the calling thread one of the task threads, for good, and runs `body` as a task.
  ///
  /// For a short command with a single task this saves the time to start, wake and wait for another thread while this
  /// one sleeps.
  ///
  /// - Throws: `SystemError` when libdispatch is in use and no thread can be started, because a task would otherwise
  ///   wait for a thread for ever, without an error.
  public static func work(_ body: @escaping @Sendable () async -> Void) throws(SystemError) -> Never {
    #if !SWIFT_EXECUTOR
      if let pool = TaskPool.shared {
        pool.countIn()
        Task.detached { await body() }
        DedicatedThread.takeTurns(.short)
        pool.work()
      }
    #endif
    try DedicatedThread.start(named: "start") {}
    Task.detached { await body() }
    while true { pause() }
  }

  /// The number of threads for a server: one for each core that this process may use, and at least two.
  public static var oneForEachCore: Int { max(2, Int(regent_usable_cores())) }
}
