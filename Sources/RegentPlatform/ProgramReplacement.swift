import CRegentLinux
import Glibc

/// Replaces this program by another one (exec).
public enum ProgramReplacement {
  /// The descriptor from which the new program reads the secret.
  public static let descriptor: CInt = 3

  /// Replaces this program by another one, which reads a secret from descriptor 3.
  ///
  /// Other processes can see arguments and environment variables, but not the content of a pipe, which is empty once it
  /// was read. The new program does not inherit descriptors above 3.
  ///
  /// - Parameters:
  ///   - program: its path, or a name to find in `PATH`.
  ///   - arguments: its arguments, without its name.
  ///   - variables: added to the environment.
  ///   - secret: the content of the pipe; at most 60,000 bytes.
  ///   - held: signals that are blocked here and must not be blocked in the new program.
  /// - Throws: `SystemError`. The function returns only by throwing.
  public static func run(
    _ program: String, _ arguments: [String], variables: [String: String], secret: [UInt8],
    held: HeldSignals? = nil
  ) throws(SystemError) {
    // The whole secret must fit into the pipe's buffer before the new program reads it.
    guard secret.count <= 60_000 else {
      throw SystemError(operation: "hand over", subject: "the secret", code: E2BIG)
    }
    let words = try programWords(program, arguments, operation: "run")
    let reading = try filledPipe(secret)
    for (name, value) in variables {
      try systemCall("set the variable", on: name) { unsafe setenv(name, value, 1) }
    }
    // The pipe is first moved away from number 3. If it already had that number, dup2 would keep close-on-exec, and the
    // new program could not read the pipe.
    let parked = FileDescriptor(
      owning: try systemCall("hand over", on: "the secret") {
        fcntl(reading.number, F_DUPFD_CLOEXEC, 10)
      })
    try systemCall("hand over", on: "the secret") { dup2(parked.number, descriptor) }
    held?.letGoForExec()
    try become(program, words)
  }

  /// Replaces this program by another one.
  ///
  /// - Parameters:
  ///   - program: its path, or a name to find in `PATH`.
  ///   - arguments: its arguments, without its name.
  ///   - held: signals that are blocked here and must not be blocked in the new program.
  /// - Throws: `SystemError`. The function returns only by throwing.
  public static func run(
    _ program: String, _ arguments: [String], held: HeldSignals? = nil
  ) throws(SystemError) {
    let words = try programWords(program, arguments, operation: "run")
    held?.letGoForExec()
    try become(program, words)
  }

  private static func become(_ program: String, _ words: [String]) throws(SystemError) {
    signal(SIGPIPE, SIG_DFL)
    try unsafe withPointers(to: words) { pointers throws(SystemError) in
      _ = try systemCall("run", on: program) { unsafe execvp(program, pointers) }
    }
  }

  private static func filledPipe(_ secret: [UInt8]) throws(SystemError) -> FileDescriptor {
    var ends: [CInt] = [-1, -1]
    try systemCall("create", on: "a pipe") { unsafe pipe(&ends) }
    let reading = FileDescriptor(owning: ends[0])
    let writing = FileDescriptor(owning: ends[1])
    for number in ends {
      try systemCall("prepare", on: "a pipe") { fcntl(number, F_SETFD, FD_CLOEXEC) }
    }
    try writing.writeAll(secret, to: "a pipe")
    try writing.close()
    return reading
  }
}
