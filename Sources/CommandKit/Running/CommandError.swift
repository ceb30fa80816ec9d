public import RegentPlatform

/// Why a command did not do what it was asked, and what to type next.
public struct CommandError: Error, Equatable, Sendable, CustomStringConvertible {
  /// A sentence in lower case without a full stop.
  public let message: String
  /// What to do about it.
  public let hint: String?
  /// A word for scripts: `usage`, `failed`, `not-found`.
  public let code: String
  /// How the program ends.
  public let exit: ExitCode

  /// Describes what went wrong.
  public init(
    _ message: String, hint: String? = nil, code: String = "failed", exit: ExitCode = .failed
  ) {
    self.message = message
    self.hint = hint
    self.code = code
    self.exit = exit
  }

  /// A file of something that is being set up cannot be used: most often because another program does the same.
  public init(settingUp what: String, _ error: FileError) {
    guard case .held(let process) = error.kind else {
      self.init(error.description, hint: error.hint)
      return
    }
    self.init(
      "\(what) is being set up by \(process.map { "process \($0)" } ?? "another program") already",
      hint: "wait until it ends, then run this command again", code: "busy")
  }

  /// What was typed is wrong.
  public static func usage(_ message: String, hint: String? = nil) -> CommandError {
    CommandError(message, hint: hint, code: "usage", exit: .usage)
  }

  /// The sentence.
  public var description: String { message }
}

/// Ends the program with a code and says nothing: for commands that pass on what another program returned.
public struct QuietExit: Error, Equatable, Sendable {
  /// How the program ends.
  public let code: ExitCode

  /// An end without a word.
  public init(_ code: ExitCode) { self.code = code }
}
