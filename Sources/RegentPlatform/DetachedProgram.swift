import CRegentLinux
import Glibc

/// Starts a program, such as a browser, that runs beside this one.
///
/// This program does not wait for its end.
public enum DetachedProgram {
  /// Starts a program with only the three standard descriptors of this one.
  ///
  /// - Parameters:
  ///   - program: its path, or a name to find in `PATH`.
  ///   - arguments: its arguments, without its name.
  /// - Throws: `SystemError` when there is no such program, or too many processes are running.
  public static func start(_ program: String, _ arguments: [String]) throws(SystemError) {
    let words = try programWords(program, arguments, operation: "start")
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addclosefrom_np(&actions, 3)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // The child must get the signals that this program's threads block. A process group of its own keeps a Ctrl-C for
    // this program away from the child.
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setpgroup(&attributes, 0)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
    var process: pid_t = 0
    let code = unsafe withPointers(to: words) {
      unsafe posix_spawnp(&process, program, &actions, &attributes, $0, environ)
    }
    guard code == 0 else { throw SystemError(operation: "start", subject: program, code: code) }
    let started = process
    // A thread waits for the child. Otherwise the child would stay in the process table as a zombie until this program
    // ends.
    _ = try? DedicatedThread.start(named: "browser") { _ = waitpid(started, nil, 0) }
  }
}
