/// An option, a flag or an argument of a command, with its type, default and help text.
///
/// Declare each input once, as a constant beside the command. The command lists it, and the action reads its checked
/// value from the ``Invocation`` with the same constant:
///
/// ```swift
/// static let listen = Input.option("listen", .text, default: "127.0.0.1:8787", "where to listen")
/// static let serve = Command("serve", "run", inputs: [listen], example: "demo serve") { call in
///   start(on: call[listen])
/// }
/// ```
public struct Input<Value: Sendable>: InputDeclaration {
  /// All properties of the input that do not depend on the type of its value.
  public var specification: InputSpecification
  /// Makes the value from the texts that were given, in their order.
  ///
  /// The list is empty if the input was not given.
  let assemble: @Sendable ([String]) throws(ValueProblem) -> Value

  /// Makes the value from the texts that were given.
  ///
  /// The parser of command lines calls this.
  public func value(of texts: [String]) throws(ValueProblem) -> any Sendable {
    TypedValue(value: try assemble(texts))
  }
}

/// A value wrapped with its static type: an empty optional stored in `any Sendable` loses its type.
struct TypedValue<Value: Sendable>: Sendable {
  let value: Value
}

/// An ``Input`` without its value type, so that inputs of different types fit into one list.
public protocol InputDeclaration: Sendable {
  /// All properties of the input that do not depend on the type of its value.
  var specification: InputSpecification { get }
  /// Makes the value from the texts that were given.
  func value(of texts: [String]) throws(ValueProblem) -> any Sendable
}

/// How an input is written on the command line, and its help text.
public struct InputSpecification: Sendable {
  /// The form of an input on the command line.
  public enum Form: Sendable {
    /// A flag, written as `--name`.
    case flag
    /// An option with a value, written as `--name VALUE`.
    case option
    /// A word without dashes, identified by its position.
    case argument
  }

  /// The input's name without dashes, such as `public-url`; for an argument the placeholder in help, such as `ID`.
  public let name: String
  public let form: Form
  /// The line about the input in help: lower case, without a full stop.
  public let help: String
  /// The placeholder in help for the input's value, such as `URL`.
  public let placeholder: String
  /// Whether the input may be given more than once.
  public let isRepeated: Bool
  public let isRequired: Bool
  /// The default value, as a user would type it.
  public let defaultText: String?
  /// The environment variable that is read when the input is not on the command line.
  public var environment: String?
  /// Whether the input can only be given on the command line, even if the command's other options have environment
  /// variables.
  public var isSaidEachTime = false
  /// What the shell completes as the input's value.
  public var completion: ValueCompletion

  /// The name of the input in messages: `--name`, or `ID` for an argument.
  public var label: String { form == .argument ? name : "--\(name)" }
}

extension Input {
  /// Declares an optional `--name VALUE`.
  ///
  /// The value is nil if the option is not given.
  public static func option<Wrapped>(
    _ name: String, _ kind: ValueKind<Wrapped>, _ help: String
  ) -> Input<Wrapped?> where Value == Wrapped? {
    Input<Wrapped?>(specification: .init(name, .option, kind, help)) { texts throws(ValueProblem) in
      guard let text = texts.last else { return nil }
      return try kind.read(text)
    }
  }

  /// Declares an optional `--name VALUE`.
  ///
  /// The value is `standard` if the option is not given.
  public static func option(
    _ name: String, _ kind: ValueKind<Value>, default standard: Value, _ help: String
  ) -> Input<Value> {
    let specification = InputSpecification(
      name, .option, kind, help, defaultText: kind.show(standard))
    return Input(specification: specification) { texts throws(ValueProblem) in
      guard let text = texts.last else { return standard }
      return try kind.read(text)
    }
  }

  /// Declares a required `--name VALUE`.
  public static func required(
    _ name: String, _ kind: ValueKind<Value>, _ help: String
  ) -> Input<Value> {
    one(.init(name, .option, kind, help, isRequired: true), kind)
  }

  /// Declares a `--name VALUE` that may be given any number of times.
  ///
  /// The values keep their order.
  public static func repeated<Element>(
    _ name: String, _ kind: ValueKind<Element>, _ help: String
  ) -> Input<[Element]> where Value == [Element] {
    many(.init(name, .option, kind, help, isRepeated: true), kind)
  }

  /// Declares a `--name VALUE` that may be given any number of times.
  ///
  /// The value is `standard` if it is never given.
  public static func repeated<Element>(
    _ name: String, _ kind: ValueKind<Element>, default standard: [Element], _ help: String
  ) -> Input<[Element]> where Value == [Element] {
    let shown = wordList(standard.map(kind.show), between: " ")
    return many(
      .init(name, .option, kind, help, isRepeated: true, defaultText: shown), kind,
      default: standard)
  }

  /// Declares a required argument (a word without dashes).
  public static func argument(
    _ name: String, _ kind: ValueKind<Value>, _ help: String
  ) -> Input<Value> {
    one(.init(name, .argument, kind, help, isRequired: true), kind)
  }

  /// Declares an optional argument (a word without dashes).
  public static func optionalArgument<Wrapped>(
    _ name: String, _ kind: ValueKind<Wrapped>, _ help: String
  ) -> Input<Wrapped?> where Value == Wrapped? {
    Input<Wrapped?>(specification: .init(name, .argument, kind, help)) {
      texts throws(ValueProblem) in
      guard let text = texts.last else { return nil }
      return try kind.read(text)
    }
  }

  /// Declares an argument that takes all remaining words: at least one, or with `orNone` any number.
  public static func arguments<Element>(
    _ name: String, _ kind: ValueKind<Element>, orNone: Bool = false, _ help: String
  ) -> Input<[Element]> where Value == [Element] {
    many(.init(name, .argument, kind, help, isRepeated: true, isRequired: !orNone), kind)
  }

  /// Returns a copy of the input that reads an environment variable when the input is not on the command line.
  public func environment(_ variable: String) -> Input {
    var copy = self
    copy.specification.environment = variable
    return copy
  }

  /// Returns a copy of the input without an environment variable, for a confirmation that must be given on each call.
  public func saidEachTime() -> Input {
    var copy = self
    copy.specification.isSaidEachTime = true
    return copy
  }

  /// Returns a copy of the input whose values are completed by a function, which runs when the user presses Tab.
  public func completed(
    by find: @escaping @Sendable (CompletionRequest) async -> [Candidate]
  ) -> Input {
    var copy = self
    copy.specification.completion = .dynamic(find)
    return copy
  }

  private static func one(
    _ specification: InputSpecification, _ kind: ValueKind<Value>
  ) -> Input<Value> {
    Input(specification: specification) { texts throws(ValueProblem) in
      // The parser rejects a command line without a required input before it reads values.
      guard let text = texts.last else { throw ValueProblem("is missing") }
      return try kind.read(text)
    }
  }

  private static func many<Element>(
    _ specification: InputSpecification, _ kind: ValueKind<Element>,
    default standard: [Element] = []
  ) -> Input<[Element]> where Value == [Element] {
    Input<[Element]>(specification: specification) { texts throws(ValueProblem) in
      guard !texts.isEmpty else { return standard }
      var values: [Element] = []
      for text in texts { values.append(try kind.read(text)) }
      return values
    }
  }
}

extension Input where Value == Bool {
  /// Declares a `--name` without a value.
  ///
  /// The input's value is true if the option is given.
  public static func flag(_ name: String, _ help: String) -> Input<Bool> {
    let specification = InputSpecification(
      name: name, form: .flag, help: help, placeholder: "", isRepeated: false, isRequired: false,
      defaultText: nil, environment: nil, completion: .nothing)
    // A flag that is given has the text "on", so that an environment variable can set it to "off".
    return Input(specification: specification) { texts throws(ValueProblem) in
      guard let text = texts.last else { return false }
      return try ValueKind.onOff.read(text)
    }
  }
}

extension InputSpecification {
  fileprivate init<Value>(
    _ name: String, _ form: Form, _ kind: ValueKind<Value>, _ help: String,
    isRepeated: Bool = false, isRequired: Bool = false, defaultText: String? = nil
  ) {
    self.init(
      name: name, form: form, help: help, placeholder: kind.placeholder, isRepeated: isRepeated,
      isRequired: isRequired, defaultText: defaultText, environment: nil,
      completion: kind.completion)
  }
}
