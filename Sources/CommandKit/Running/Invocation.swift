/// One call of a command: what it was told, and where it speaks.
public struct Invocation: Sendable {
  /// Where the command speaks.
  public let console: Console
  /// The variables of the process.
  public let environment: Environment
  /// Whether the answer is to be a JSON document.
  public let wantsJSON: Bool
  private let given: GivenValues

  init(_ given: GivenValues, console: Console, environment: Environment) {
    self.given = given
    self.console = console
    self.environment = environment
    wantsJSON =
      (given.values[Program.json.specification.label] as? TypedValue<Bool>)?.value ?? false
  }

  /// The value of an input of this command.
  public subscript<Value>(input: Input<Value>) -> Value {
    guard let found = given.values[input.specification.label] as? TypedValue<Value> else {
      preconditionFailure("the command does not declare \(input.specification.label)")
    }
    return found.value
  }

  /// Where a value came from: the option itself, the name of an environment variable, or nil for a default.
  public func source(of input: any InputDeclaration) -> String? {
    given.sources[input.specification.label]
  }
}
