import CRegentLinux
import Glibc

/// Becoming another program.
public enum ProgramReplacement {
  /// The descriptor under which the secret is found.
  public static let descriptor: CInt = 3

  /// Ends this program and runs another one in its place, which reads a secret from descriptor 3.
  ///
  /// Unlike an argument or a variable, a pipe is seen by nobody else, and it is empty once it was read. Other
  /// descriptors above it are closed in the new program.
  ///
  /// - Parameters:
  ///   - program: its path, or a name that `PATH` has.
  ///   - arguments: its arguments, without its name.
  ///   - variables: added to the environment.
  ///   - secret: what the pipe holds; at most 60,000 bytes.
  ///   - held: signals that were held back here and must not be there.
  /// - Throws: `SystemError`; when it returns at all, it throws.
  public static func run(
    _ program: String, _ arguments: [String], variables: [String: String], secret: [UInt8],
    held: HeldSignals? = nil
  ) throws(SystemError) {
    // The pipe must take it all before anybody reads.
    guard secret.count <= 60_000 else {
      throw SystemError(operation: "hand over", subject: "the secret", code: E2BIG)
    }
    let words = try programWords(program, arguments, operation: "run")
    let reading = try filledPipe(secret)
    for (name, value) in variables {
      try systemCall("set the variable", on: name) { unsafe setenv(name, value, 1) }
    }
    // Moved out of the way of 3 first, so that the copy to 3 always makes one without close-on-exec.
    let parked = FileDescriptor(
      owning: try systemCall("hand over", on: "the secret") {
        fcntl(reading.number, F_DUPFD_CLOEXEC, 10)
      })
    try systemCall("hand over", on: "the secret") { dup2(parked.number, descriptor) }
    held?.letGoForExec()
    try become(program, words)
  }

  /// Ends this program and runs another one in its place.
  ///
  /// - Parameters:
  ///   - program: its path, or a name that `PATH` has.
  ///   - arguments: its arguments, without its name.
  ///   - held: signals that were held back here and must not be there.
  /// - Throws: `SystemError`; when it returns at all, it throws.
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
