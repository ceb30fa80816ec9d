/// The exit code of a program.
///
/// Programs add their own codes in an extension.
public struct ExitCode: RawRepresentable, Hashable, Sendable {
  /// The number of the exit code, 0 to 125.
  ///
  /// Shells use the higher numbers for signals.
  public let rawValue: Int32

  public init(rawValue: Int32) { self.rawValue = rawValue }

  public static let done = ExitCode(rawValue: 0)
  /// The command was understood, but failed.
  public static let failed = ExitCode(rawValue: 1)
  /// The options or arguments are wrong.
  public static let usage = ExitCode(rawValue: 2)

  /// The meanings of the exit codes that every program has.
  public static let standardMeanings: [(code: ExitCode, meaning: String)] = [
    (.done, "the command succeeded"), (.failed, "the command failed"),
    (.usage, "the options or arguments are wrong"),
  ]
}
