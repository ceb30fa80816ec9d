/// A type of value on the command line: how it is read, shown and completed.
public struct ValueKind<Value: Sendable>: Sendable {
  /// What stands for the value in help: `URL`.
  public let placeholder: String
  /// What a shell offers.
  public var completion: ValueCompletion
  let read: @Sendable (String) throws(ValueProblem) -> Value
  let show: @Sendable (Value) -> String

  /// A type of value; `show` writes it the way `read` reads it.
  public init(
    _ placeholder: String, completion: ValueCompletion = .nothing,
    show: @escaping @Sendable (Value) -> String,
    read: @escaping @Sendable (String) throws(ValueProblem) -> Value
  ) {
    self.placeholder = placeholder
    self.completion = completion
    self.show = show
    self.read = read
  }

  /// Reads a text, for kinds that are made of others.
  public func value(of text: String) throws(ValueProblem) -> Value { try read(text) }
}

/// What is wrong with a value: the end of a sentence that begins with the option and the value.
public struct ValueProblem: Error, Equatable, Sendable {
  /// Such as "is not a duration".
  public let problem: String
  /// What to type instead.
  public let hint: String?

  /// The end of a sentence, beginning with a verb.
  public init(_ problem: String, hint: String? = nil) {
    self.problem = problem
    self.hint = hint
  }
}

/// What a shell offers for a value.
public enum ValueCompletion: Sendable {
  /// Nothing that could be known.
  case nothing
  /// Names of files.
  case files
  /// Names of folders.
  case folders
  /// A fixed choice.
  case words([String])
  /// Found when somebody presses Tab.
  case dynamic(@Sendable (CompletionRequest) async -> [Candidate])
}
