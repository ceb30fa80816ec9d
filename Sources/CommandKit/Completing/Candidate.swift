/// A word that a shell may put where the cursor stands.
public struct Candidate: Equatable, Sendable {
  public let word: String
  /// What it is, for shells that show it.
  public let summary: String

  public init(_ word: String, _ summary: String = "") {
    self.word = word
    self.summary = summary
  }
}

/// What is known while somebody types: the values given so far.
public struct CompletionRequest: Sendable {
  /// The beginning of the word, which may be empty.
  public let beginning: String
  /// The variables of the process.
  public let environment: Environment
  private let words: [String: [String]]

  init(beginning: String, words: CommandLineWords, environment: Environment) {
    self.beginning = beginning
    self.environment = environment
    var texts = words.options
    var operands = words.operands[...]
    for input in words.knownInputs.map(\.specification) where input.form == .argument {
      let count = input.isRepeated ? operands.count : min(1, operands.count)
      texts[input.label] = Array(operands.prefix(count))
      operands = operands.dropFirst(count)
    }
    for input in words.knownInputs.map(\.specification) where texts[input.label] == nil {
      guard let variable = input.environment, let text = environment[variable] else { continue }
      texts[input.label] = [text]
    }
    self.words = texts
  }

  /// The value of an input as far as it was given and is right; its default otherwise.
  public subscript<Value>(input: Input<Value>) -> Value? {
    try? input.assemble(words[input.specification.label] ?? [])
  }

  /// The value of an input that may be left out, as far as it was given and is right.
  public subscript<Value>(input: Input<Value?>) -> Value? {
    (try? input.assemble(words[input.specification.label] ?? [])) ?? nil
  }
}
