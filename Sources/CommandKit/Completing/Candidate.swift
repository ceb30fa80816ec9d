/// A word that the shell offers for completion.
public struct Candidate: Equatable, Sendable {
  public let word: String
  /// A description of the word, for shells that show one.
  public let summary: String

  public init(_ word: String, _ summary: String = "") {
    self.word = word
    self.summary = summary
  }
}

/// What a completion can use: the word before the cursor and the values given so far.
public struct CompletionRequest: Sendable {
  /// The part of the word that stands before the cursor.
  ///
  /// It may be empty.
  public let beginning: String
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

  /// The value of an input if it was given and is valid, otherwise its default.
  public subscript<Value>(input: Input<Value>) -> Value? {
    try? input.assemble(words[input.specification.label] ?? [])
  }

  /// The value of an optional input if it was given and is valid, otherwise nil.
  public subscript<Value>(input: Input<Value?>) -> Value? {
    (try? input.assemble(words[input.specification.label] ?? [])) ?? nil
  }
}
