import Glibc

/// Runs another program and waits for it.
public enum ChildProgram {
  /// Runs a program, which uses the standard input, output and error of this one.
  ///
  /// - Parameters:
  ///   - program: its path, or a name to find in `PATH`.
  ///   - arguments: its arguments, without its name.
  /// - Returns: its exit code, or 128 plus the number of the signal that ended it.
  /// - Throws: `SystemError` when it cannot be run.
  public static func run(_ program: String, _ arguments: [String]) throws(SystemError) -> CInt {
    let words = try programWords(program, arguments, operation: "run")
    var child: pid_t = 0
    let code = unsafe withPointers(to: words) {
      unsafe posix_spawnp(&child, program, nil, nil, $0, Glibc.environ)
    }
    guard code == 0 else { throw SystemError(operation: "run", subject: program, code: code) }
    var status: CInt = 0
    try systemCall("wait for", on: program) { unsafe waitpid(child, &status, 0) }
    let signal = status & 0x7f
    return signal == 0 ? (status >> 8) & 0xff : 128 + signal
  }
}
