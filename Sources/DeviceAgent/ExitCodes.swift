public import CommandKit

extension ExitCode {
  /// The box is not signed in.
  public static let notSignedIn = ExitCode(rawValue: 3)
  /// The viewer denied the code, or the provider refused the request.
  public static let denied = ExitCode(rawValue: 4)
  /// The registration code expired.
  public static let expired = ExitCode(rawValue: 5)
  /// The service cannot be reached.
  public static let unreachable = ExitCode(rawValue: 6)

  /// The program to which this process should change cannot be executed.
  ///
  /// Shells use the same code.
  static let cannotRun = ExitCode(rawValue: 126)
  /// The program to which this process should change does not exist.
  ///
  /// Shells use the same code.
  static let noSuchProgram = ExitCode(rawValue: 127)

  static let agentMeanings: [(code: ExitCode, meaning: String)] =
    standardMeanings + [
      (.notSignedIn, "the box is not signed in"), (.denied, "the request was refused"),
      (.expired, "the code expired"), (.unreachable, "the service cannot be reached"),
    ]
}
