/// What a program says to the shell when it ends; programs add their own in an extension.
public struct ExitCode: RawRepresentable, Hashable, Sendable {
  /// 0 to 125; shells use the numbers above for signals.
  public let rawValue: Int32

  /// A code of one's own.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// It worked.
  public static let done = ExitCode(rawValue: 0)
  /// It was understood and did not work.
  public static let failed = ExitCode(rawValue: 1)
  /// It was not understood: options or arguments are wrong.
  public static let usage = ExitCode(rawValue: 2)

  /// What the codes that every program has mean.
  public static let standardMeanings: [(code: ExitCode, meaning: String)] = [
    (.done, "the command succeeded"), (.failed, "the command failed"),
    (.usage, "the options or arguments are wrong"),
  ]
}
