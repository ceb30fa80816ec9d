/// One thing that a command is told: an option, a flag or an argument, with its type, default and help text.
///
/// Declare each once, as a constant beside the command; the command lists it, and the action asks the
/// ``Invocation`` for its value with the same constant, already checked and typed:
///
/// ```swift
/// static let listen = Input.option("listen", .text, default: "127.0.0.1:8787", "where to listen")
/// static let serve = Command("serve", "run", inputs: [listen], example: "demo serve") { call in
///   start(on: call[listen])
/// }
/// ```
public struct Input<Value: Sendable>: InputDeclaration {
  /// All of it that does not depend on the type.
  public var specification: InputSpecification
  /// From the texts that were given, in order, to the value; none given means absent.
  let assemble: @Sendable ([String]) throws(ValueProblem) -> Value

  /// Reads the texts that were given; for the reader of command lines.
  public func value(of texts: [String]) throws(ValueProblem) -> any Sendable {
    TypedValue(value: try assemble(texts))
  }
}

/// A value with its type around it, because an empty optional in an `any` no longer knows what it was.
struct TypedValue<Value: Sendable>: Sendable {
  let value: Value
}

/// What an ``Input`` is without its type, so that inputs of all types stand in one list.
public protocol InputDeclaration: Sendable {
  /// All of it that does not depend on the type.
  var specification: InputSpecification { get }
  /// Reads the texts that were given.
  func value(of texts: [String]) throws(ValueProblem) -> any Sendable
}

/// How an input is written, and what is said about it.
public struct InputSpecification: Sendable {
  /// How an input is written on the command line.
  public enum Form: Sendable {
    /// `--name`.
    case flag
    /// `--name VALUE`.
    case option
    /// A word without dashes; its place decides.
    case argument
  }

  /// Without dashes: `public-url`, or for an argument what help calls it: `ID`.
  public let name: String
  /// How it is written on the command line.
  public let form: Form
  /// One line for people, lower case, no full stop.
  public let help: String
  /// What stands for the value in help: `URL`.
  public let placeholder: String
  /// Whether it may be given again.
  public let isRepeated: Bool
  /// Whether it must be given.
  public let isRequired: Bool
  /// The default as it would be typed.
  public let defaultText: String?
  /// The environment variable that stands in when it is not given on the command line.
  public var environment: String?
  /// Whether no environment variable stands in for it.
  public var isSaidEachTime = false
  /// What a shell offers for the value.
  public var completion: ValueCompletion

  /// How it is written in messages: `--name`, or `ID`.
  public var label: String { form == .argument ? name : "--\(name)" }
}

extension Input {
  /// `--name VALUE`, which may be left out; the value is then nil.
  public static func option<Wrapped>(
    _ name: String, _ kind: ValueKind<Wrapped>, _ help: String
  ) -> Input<Wrapped?> where Value == Wrapped? {
    Input<Wrapped?>(specification: .init(name, .option, kind, help)) { texts throws(ValueProblem) in
      guard let text = texts.last else { return nil }
      return try kind.read(text)
    }
  }

  /// `--name VALUE`, which may be left out; the value is then `standard`.
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

  /// `--name VALUE`, which must be given.
  public static func required(
    _ name: String, _ kind: ValueKind<Value>, _ help: String
  ) -> Input<Value> {
    one(.init(name, .option, kind, help, isRequired: true), kind)
  }

  /// `--name VALUE`, any number of times, in order.
  public static func repeated<Element>(
    _ name: String, _ kind: ValueKind<Element>, _ help: String
  ) -> Input<[Element]> where Value == [Element] {
    many(.init(name, .option, kind, help, isRepeated: true), kind)
  }

  /// `--name VALUE`, any number of times; `standard` when it is never given.
  public static func repeated<Element>(
    _ name: String, _ kind: ValueKind<Element>, default standard: [Element], _ help: String
  ) -> Input<[Element]> where Value == [Element] {
    let shown = wordList(standard.map(kind.show), between: " ")
    return many(
      .init(name, .option, kind, help, isRepeated: true, defaultText: shown), kind,
      default: standard)
  }

  /// A word that must be there.
  public static func argument(
    _ name: String, _ kind: ValueKind<Value>, _ help: String
  ) -> Input<Value> {
    one(.init(name, .argument, kind, help, isRequired: true), kind)
  }

  /// A word that may be left out.
  public static func optionalArgument<Wrapped>(
    _ name: String, _ kind: ValueKind<Wrapped>, _ help: String
  ) -> Input<Wrapped?> where Value == Wrapped? {
    Input<Wrapped?>(specification: .init(name, .argument, kind, help)) {
      texts throws(ValueProblem) in
      guard let text = texts.last else { return nil }
      return try kind.read(text)
    }
  }

  /// All remaining words: at least one, or with `orNone` also none.
  public static func arguments<Element>(
    _ name: String, _ kind: ValueKind<Element>, orNone: Bool = false, _ help: String
  ) -> Input<[Element]> where Value == [Element] {
    many(.init(name, .argument, kind, help, isRepeated: true, isRequired: !orNone), kind)
  }

  /// The same, with an environment variable that stands in when it is not given.
  public func environment(_ variable: String) -> Input {
    var copy = self
    copy.specification.environment = variable
    return copy
  }

  /// The same, without the variable that the other options of its command have: what is a yes to one call.
  public func saidEachTime() -> Input {
    var copy = self
    copy.specification.isSaidEachTime = true
    return copy
  }

  /// The same, with values that a shell offers, found when somebody presses Tab.
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
      // The reader refuses a command line without it before anybody asks for its value.
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
  /// `--name`: true when it is given.
  public static func flag(_ name: String, _ help: String) -> Input<Bool> {
    let specification = InputSpecification(
      name: name, form: .flag, help: help, placeholder: "", isRepeated: false, isRequired: false,
      defaultText: nil, environment: nil, completion: .nothing)
    // A flag given is the word "on", so that `REGENT_NAME=off` can say no.
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
