/// One call of a command, with its values and its console.
public struct Invocation: Sendable {
  public let console: Console
  public let environment: Environment
  /// Whether the output must be a JSON document (`--json`).
  public let wantsJSON: Bool
  private let given: GivenValues

  init(_ given: GivenValues, console: Console, environment: Environment) {
    self.given = given
    self.console = console
    self.environment = environment
    wantsJSON =
      (given.values[Program.json.specification.label] as? TypedValue<Bool>)?.value ?? false
  }

  /// The value of an input, which the command must declare.
  public subscript<Value>(input: Input<Value>) -> Value {
    guard let found = given.values[input.specification.label] as? TypedValue<Value> else {
      preconditionFailure("the command does not declare \(input.specification.label)")
    }
    return found.value
  }

  /// Where the value came from: the option, the name of an environment variable, or nil for the default.
  public func source(of input: any InputDeclaration) -> String? {
    given.sources[input.specification.label]
  }
}
