/// A program: its name, what applies to all its commands, and the commands.
public struct Program: Sendable {
  /// The word that starts it.
  public let name: String
  /// As `--version` prints it.
  public let version: String
  /// One line for people, lower case, no full stop.
  public let summary: String
  /// More about it, for the help page and the manual.
  public let details: String
  /// Options that every command takes, before or behind its own words.
  public let options: [any InputDeclaration]
  /// What must hold between them.
  public let rules: [InputRule]
  /// Whether `--json` is one of them: errors are JSON documents then, too.
  public let offersJSON: Bool
  /// What it can do.
  public let offers: [CommandOffer]
  /// What the exit codes mean, for the manual.
  public let exitCodes: [(code: ExitCode, meaning: String)]
  /// Other pages of the manual, such as `regentctl(1)`.
  public let seeAlso: [String]
  /// The manual's section: 1 for people's programs, 8 for the administrator's.
  public let manualSection: Int
  /// From an error that this package does not know to a sentence and a hint.
  public let explain: @Sendable (any Error) -> CommandError?
  /// Commands that a word of other programs probably means, the likeliest first: `user` means `account`.
  public let nearWords: @Sendable (String) -> [String]

  /// Declares a program; `environmentPrefix` gives each common option its variable.
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

  /// All that it can do, made.
  public var commands: [Command] { offers.map { $0.make() } }

  static let json = Input.flag("json", "print one JSON document instead of text")
  static let help = Input.flag("help", "show this help (also -h)")
  static let versionFlag = Input.flag("version", "print the version")
}
