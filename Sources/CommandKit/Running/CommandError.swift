public import RegentPlatform

/// Why a command failed, and what to type next.
public struct CommandError: Error, Equatable, Sendable, CustomStringConvertible {
  /// A sentence in lower case, without a full stop.
  public let message: String
  /// What the user can do about the error.
  public let hint: String?
  /// A stable word for the error, for scripts: `usage`, `failed` or `not-found`.
  public let code: String
  public let exit: ExitCode

  public init(
    _ message: String, hint: String? = nil, code: String = "failed", exit: ExitCode = .failed
  ) {
    self.message = message
    self.hint = hint
    self.code = code
    self.exit = exit
  }

  /// An error about a file that `setup` needs; if another process holds the lock, the message names that process.
  public init(settingUp what: String, _ error: FileError) {
    guard case .held(let process) = error.kind else {
      self.init(error.description, hint: error.hint)
      return
    }
    self.init(
      "\(what) is being set up by \(process.map { "process \($0)" } ?? "another program") already",
      hint: "wait until it ends, then run this command again", code: "busy")
  }

  /// An error in the command line.
  public static func usage(_ message: String, hint: String? = nil) -> CommandError {
    CommandError(message, hint: hint, code: "usage", exit: .usage)
  }

  public var description: String { message }
}

/// Ends the program with an exit code and no message, for commands that pass on another program's exit code.
public struct QuietExit: Error, Equatable, Sendable {
  public let code: ExitCode

  public init(_ code: ExitCode) { self.code = code }
}
