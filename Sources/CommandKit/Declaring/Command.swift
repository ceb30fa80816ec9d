public import RegentJSON

/// A command: a verb with its inputs and its action, or a noun with verbs below it (`requestor add`).
public struct Command: Sendable {
  /// The command's word: lower case with dashes.
  public let name: String
  /// The line about the command in help: lower case, without a full stop.
  public let summary: String
  /// More text for the command's own help page; empty lines separate paragraphs.
  public let details: String
  /// The inputs of the command, under headings.
  ///
  /// The first section has none.
  public let sections: [InputSection]
  /// Rules about combinations of the command's inputs.
  public let rules: [InputRule]
  /// The prefix of the environment variables of its options, such as `REGENT_`; nil if they have none.
  public let environmentPrefix: String?
  /// An example of a complete command line.
  public let example: String
  /// The commands below a noun; empty for a verb.
  public let commands: [Command]
  /// Whether help and completion leave the command out.
  public let isHidden: Bool
  let action: Action?
  /// Creates the JSON line that reports a failure on standard output with `--json`.
  ///
  /// Set for commands that print one event per line; other commands report failures on standard error.
  public private(set) var failureEvent: (@Sendable (CommandError) -> JSONValue)?
  /// The usage lines, without the program's name, for a command whose inputs alone would make a misleading line.
  public private(set) var usageForms: [String] = []

  enum Action: Sendable {
    case now(@Sendable (Invocation) throws -> Void)
    case later(@Sendable (Invocation) async throws -> Void)
  }

  public init(_ name: String, _ summary: String, details: String = "", commands: [Command]) {
    self.init(
      name, summary, details, sections: [], rules: [], environmentPrefix: nil, example: "",
      commands: commands, isHidden: false, action: nil)
  }

  /// Creates a command with a synchronous action, which runs on the main thread and may block it.
  public init(
    _ name: String, _ summary: String, details: String = "", inputs: [any InputDeclaration] = [],
    sections: [InputSection] = [], rules: [InputRule] = [], environmentPrefix: String? = nil,
    example: String, isHidden: Bool = false, run: @escaping @Sendable (Invocation) throws -> Void
  ) {
    self.init(
      name, summary, details, sections: [InputSection("", inputs)] + sections, rules: rules,
      environmentPrefix: environmentPrefix, example: example, commands: [], isHidden: isHidden,
      action: .now(run))
  }

  /// Creates a command with an asynchronous action, for example one that calls a service.
  public init(
    _ name: String, _ summary: String, details: String = "", inputs: [any InputDeclaration] = [],
    sections: [InputSection] = [], rules: [InputRule] = [], environmentPrefix: String? = nil,
    example: String, isHidden: Bool = false,
    run: @escaping @Sendable (Invocation) async throws -> Void
  ) {
    self.init(
      name, summary, details, sections: [InputSection("", inputs)] + sections, rules: rules,
      environmentPrefix: environmentPrefix, example: example, commands: [], isHidden: isHidden,
      action: .later(run))
  }

  private init(
    _ name: String, _ summary: String, _ details: String, sections: [InputSection],
    rules: [InputRule], environmentPrefix: String?, example: String, commands: [Command],
    isHidden: Bool, action: Action?
  ) {
    self.name = name
    self.summary = summary
    self.details = details
    self.sections = sections.map { $0.withEnvironment(prefix: environmentPrefix) }
    self.rules = rules
    self.environmentPrefix = environmentPrefix
    self.example = example
    self.commands = commands
    self.isHidden = isHidden
    self.action = action
  }

  /// Returns a copy of the command that reports failures as JSON events, including errors in the command line.
  public func withFailures(
    as event: @escaping @Sendable (CommandError) -> JSONValue
  ) -> Command {
    var command = self
    command.failureEvent = event
    return command
  }

  /// Returns a copy of the command with these usage lines in help and hints.
  public func withUsage(_ forms: [String]) -> Command {
    var command = self
    command.usageForms = forms
    return command
  }

  public var inputs: [any InputDeclaration] { sections.flatMap(\.inputs) }
}

/// Inputs under one heading of a help page.
public struct InputSection: Sendable {
  /// The heading, such as `limits`; empty for the first section.
  public let heading: String
  public let inputs: [any InputDeclaration]

  public init(_ heading: String, _ inputs: [any InputDeclaration]) {
    self.heading = heading
    self.inputs = inputs
  }

  func withEnvironment(prefix: String?) -> InputSection {
    guard let prefix else { return self }
    return InputSection(heading, inputs.map { PrefixedInput($0, prefix: prefix) })
  }
}

/// An input whose environment variable is made of a prefix and its name.
private struct PrefixedInput: InputDeclaration {
  let specification: InputSpecification
  private let original: any InputDeclaration

  init(_ original: any InputDeclaration, prefix: String) {
    var specification = original.specification
    if specification.environment == nil, specification.form != .argument, !specification.isSaidEachTime {
      specification.environment = prefix + environmentName(specification.name)
    }
    self.specification = specification
    self.original = original
  }

  func value(of texts: [String]) throws(ValueProblem) -> any Sendable {
    try original.value(of: texts)
  }
}

/// A rule about a combination of inputs.
public enum InputRule: Sendable {
  /// Exactly one of the inputs is given.
  case oneOf([any InputDeclaration])
  /// At most one of the inputs is given.
  case atMostOne([any InputDeclaration])
  /// At least one of the inputs is given.
  case someOf([any InputDeclaration])
  /// All of the inputs are given, or none.
  case together([any InputDeclaration])
}
