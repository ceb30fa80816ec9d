/// A type of value on the command line: how it is parsed, printed and completed.
public struct ValueKind<Value: Sendable>: Sendable {
  /// The placeholder in help for a value of this type, such as `URL`.
  public let placeholder: String
  /// What the shell completes for a value of this type.
  public var completion: ValueCompletion
  let read: @Sendable (String) throws(ValueProblem) -> Value
  let show: @Sendable (Value) -> String

  /// Creates a type of value.
  ///
  /// `show` must print a value in the form that `read` parses.
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

  /// Parses a text as a value of this type, for types that are built from others.
  public func value(of text: String) throws(ValueProblem) -> Value { try read(text) }
}

/// Why a value is invalid: the end of a sentence that begins with the option and the value.
public struct ValueProblem: Error, Equatable, Sendable {
  /// The problem, such as "is not a duration".
  public let problem: String
  /// What to type in place of the invalid value.
  public let hint: String?

  /// Creates the problem of an invalid value.
  ///
  /// `problem` begins with a verb.
  public init(_ problem: String, hint: String? = nil) {
    self.problem = problem
    self.hint = hint
  }
}

/// What a shell completes as a value.
public enum ValueCompletion: Sendable {
  case nothing
  case files
  case folders
  /// The shell completes one of these words.
  case words([String])
  /// The shell completes candidates that a function finds when the user presses Tab.
  case dynamic(@Sendable (CompletionRequest) async -> [Candidate])
}
