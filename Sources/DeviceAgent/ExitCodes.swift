public import CommandKit

extension ExitCode {
  /// Nobody is signed in on this box.
  public static let notSignedIn = ExitCode(rawValue: 3)
  /// It was refused: on the phone, or by the provider.
  public static let denied = ExitCode(rawValue: 4)
  /// The code's time ran out.
  public static let expired = ExitCode(rawValue: 5)
  /// The service does not answer.
  public static let unreachable = ExitCode(rawValue: 6)

  /// There is a program to run instead of this one, and it cannot be run; as shells say it.
  static let cannotRun = ExitCode(rawValue: 126)
  /// There is no such program to run instead of this one; as shells say it.
  static let noSuchProgram = ExitCode(rawValue: 127)

  /// What the exit codes of `regent` mean.
  static let agentMeanings: [(code: ExitCode, meaning: String)] =
    standardMeanings + [
      (.notSignedIn, "the box is not signed in"), (.denied, "the request was refused"),
      (.expired, "the code expired"), (.unreachable, "the service cannot be reached"),
    ]
}
