/// A program: its name, its common options and its commands.
public struct Program: Sendable {
  public let name: String
  /// The version, as `--version` prints it.
  public let version: String
  /// The line about the program in help: lower case, without a full stop.
  public let summary: String
  /// More text about the program, for the help page and the manual page.
  public let details: String
  /// The options of all commands.
  ///
  /// They may stand before or after the command.
  public let options: [any InputDeclaration]
  /// Rules about combinations of the program's common options.
  public let rules: [InputRule]
  /// Whether the program has the option `--json`, which also makes errors JSON documents.
  public let offersJSON: Bool
  public let offers: [CommandOffer]
  /// The meanings of the exit codes, for the manual page.
  public let exitCodes: [(code: ExitCode, meaning: String)]
  /// Related manual pages, such as `regentctl(1)`.
  public let seeAlso: [String]
  /// The section of the manual: 1 for user commands, 8 for administration.
  public let manualSection: Int
  /// Makes a message for an error of a type that CommandKit does not know.
  public let explain: @Sendable (any Error) -> CommandError?
  /// Commands that an unknown word probably means, the likeliest first: `user` means `account`.
  public let nearWords: @Sendable (String) -> [String]

  /// Declares a program.
  ///
  /// `environmentPrefix` gives each common option an environment variable.
  public init(
    name: String, version: String, summary: String, details: String = "",
    options: [any InputDeclaration] = [], rules: [InputRule] = [],
    environmentPrefix: String? = nil, offersJSON: Bool = false, commands: [CommandOffer],
    exitCodes: [(code: ExitCode, meaning: String)] = ExitCode.standardMeanings,
    seeAlso: [String] = [], manualSection: Int = 1,
    explain: @escaping @Sendable (any Error) -> CommandError? = { _ in nil },
    nearWords: @escaping @Sendable (String) -> [String] = { _ in [] }
  ) {
    self.name = name
    self.version = version
    self.summary = summary
    self.details = details
    self.options =
      InputSection("", options).withEnvironment(prefix: environmentPrefix).inputs
      + (offersJSON ? [Self.json] : [])
    self.rules = rules
    self.offersJSON = offersJSON
    offers = commands
    self.exitCodes = exitCodes
    self.seeAlso = seeAlso
    self.manualSection = manualSection
    self.explain = explain
    self.nearWords = nearWords
  }

  /// All commands of the program, which are created now.
  public var commands: [Command] { offers.map { $0.make() } }

  static let json = Input.flag("json", "print one JSON document instead of text")
  static let help = Input.flag("help", "show this help (also -h)")
  static let versionFlag = Input.flag("version", "print the version")
}
