public import RegentJSON

/// A verb with what it is told and what it does, or a noun with verbs below it.
public struct Command: Sendable {
  /// The word that calls it, lower case with dashes.
  public let name: String
  /// One line for people, lower case, no full stop.
  public let summary: String
  /// More about it for its own help page; paragraphs are separated by empty lines.
  public let details: String
  /// What it is told, under headings; the first section has none.
  public let sections: [InputSection]
  /// What must hold between its inputs.
  public let rules: [InputRule]
  /// Put before the name of each option to find the variable that stands in for it: `REGENT_`.
  public let environmentPrefix: String?
  /// A line that can be typed as it stands.
  public let example: String
  /// Commands below it; empty for a verb.
  public let commands: [Command]
  /// Left out of help and completion.
  public let isHidden: Bool
  let action: Action?
  /// The line on standard output that a failure is with `--json`, for a command whose answer is a line for each event;
  /// the others' failures are documents on standard error.
  public private(set) var failureEvent: (@Sendable (CommandError) -> JSONValue)?
  /// How the command is called, without the program's name, when one line made of its inputs would be misleading.
  public private(set) var usageForms: [String] = []

  enum Action: Sendable {
    case now(@Sendable (Invocation) throws -> Void)
    case later(@Sendable (Invocation) async throws -> Void)
  }

  /// A noun with verbs below it.
  public init(_ name: String, _ summary: String, details: String = "", commands: [Command]) {
    self.init(
      name, summary, details, sections: [], rules: [], environmentPrefix: nil, example: "",
      commands: commands, isHidden: false, action: nil)
  }

  /// A verb whose action runs on the main thread and may block it.
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

  /// A verb whose action waits for others, such as a service.
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

  /// The same command with failures that are events among its others, those of the command line included.
  public func withFailures(
    as event: @escaping @Sendable (CommandError) -> JSONValue
  ) -> Command {
    var command = self
    command.failureEvent = event
    return command
  }

  /// The same command with these usage lines in help and hints, instead of one line made of its inputs.
  public func withUsage(_ forms: [String]) -> Command {
    var command = self
    command.usageForms = forms
    return command
  }

  /// All inputs in the order of declaration.
  public var inputs: [any InputDeclaration] { sections.flatMap(\.inputs) }
}

/// Inputs under a heading of their own in help.
public struct InputSection: Sendable {
  /// The heading, such as `limits`; empty for the first.
  public let heading: String
  /// The inputs in the order help shows them.
  public let inputs: [any InputDeclaration]

  /// Inputs under a heading.
  public init(_ heading: String, _ inputs: [any InputDeclaration]) {
    self.heading = heading
    self.inputs = inputs
  }

  func withEnvironment(prefix: String?) -> InputSection {
    guard let prefix else { return self }
    return InputSection(heading, inputs.map { PrefixedInput($0, prefix: prefix) })
  }
}

/// An input of a command whose options all have an environment variable.
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

/// What must hold between the inputs of a command.
public enum InputRule: Sendable {
  /// Exactly one of them.
  case oneOf([any InputDeclaration])
  /// One of them, or none.
  case atMostOne([any InputDeclaration])
  /// At least one of them.
  case someOf([any InputDeclaration])
  /// All of them, or none.
  case together([any InputDeclaration])
}
