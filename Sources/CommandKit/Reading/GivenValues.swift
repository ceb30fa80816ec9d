/// The parsed values of all inputs of one command.
struct GivenValues: Sendable {
  private(set) var values: [String: any Sendable] = [:]
  /// Where each given value came from: `--name`, or the name of an environment variable.
  private(set) var sources: [String: String] = [:]

  /// Takes values from the command line, then from the environment, then the defaults.
  init(_ words: CommandLineWords, _ environment: Environment) throws(CommandError) {
    let inputs = words.knownInputs
    let operands = try words.assignedOperands(to: inputs.map(\.specification))
    for input in inputs {
      let specification = input.specification
      var texts = words.options[specification.label] ?? operands[specification.label] ?? []
      var source = specification.label
      if texts.isEmpty, let name = specification.environment, let text = environment[name] {
        // The environment variable was not valid UTF-8. Its repaired text would name another path.
        guard !text.unicodeScalars.contains("\u{fffd}") else {
          throw .usage("\(name) is not valid UTF-8")
        }
        texts =
          specification.isRepeated
          ? text.split(whereSeparator: \.isWhitespace).map(String.init) : [text]
        source = name
      }
      try take(input, texts, from: source, words)
    }
    for rule in words.rules { try check(rule, words) }
  }

  private mutating func take(
    _ input: any InputDeclaration, _ texts: [String], from source: String, _ words: CommandLineWords
  ) throws(CommandError) {
    let specification = input.specification
    if texts.isEmpty, specification.isRequired {
      throw .usage("\(specification.label) is missing", hint: "run \(words.usage)")
    }
    if texts.count > 1, !specification.isRepeated {
      throw .usage("\(specification.label) is given twice", hint: "remove one of the two")
    }
    if !texts.isEmpty { sources[specification.label] = source }
    do throws(ValueProblem) {
      values[specification.label] = try input.value(of: texts)
    } catch {
      // If the input was given several times, name the first value that is invalid by itself.
      let wrong = texts.first { (try? input.value(of: [$0])) == nil } ?? texts.last ?? ""
      throw .usage("\(source) \"\(wrong)\" \(error.problem)", hint: error.hint)
    }
  }

  private func check(_ rule: InputRule, _ words: CommandLineWords) throws(CommandError) {
    let labels = rule.inputs.map(\.specification.label)
    let given = labels.filter { sources[$0] != nil }
    let shown = given.map { sources[$0] ?? $0 }.joined(separator: " and ")
    switch rule {
    case .oneOf, .atMostOne:
      if given.count > 1 {
        throw .usage("\(shown) cannot be combined", hint: "use one of \(listed(labels))")
      }
    case .someOf: break
    case .together:
      let missing = labels.filter { sources[$0] == nil }
      if !given.isEmpty, !missing.isEmpty {
        throw .usage(
          "\(shown) needs \(listed(missing, "and"))",
          hint: "use \(labels.count == 2 ? "both" : "all") or none")
      }
      return
    }
    if given.isEmpty, rule.isRequired {
      throw .usage("one of \(listed(labels)) is missing", hint: "run \(words.usage)")
    }
  }
}

extension InputRule {
  var inputs: [any InputDeclaration] {
    switch self {
    case .oneOf(let inputs), .atMostOne(let inputs), .someOf(let inputs), .together(let inputs):
      inputs
    }
  }

  fileprivate var isRequired: Bool {
    switch self {
    case .oneOf, .someOf: true
    case .atMostOne, .together: false
    }
  }
}

extension CommandLineWords {
  /// Assigns the arguments in their order; a repeated last argument takes all that remain.
  fileprivate func assignedOperands(
    to inputs: [InputSpecification]
  ) throws(CommandError) -> [String: [String]] {
    var rest = operands[...]
    var assigned: [String: [String]] = [:]
    let arguments = inputs.filter { $0.form == .argument }
    let endsInMany = arguments.last?.isRepeated == true
    for input in arguments where !rest.isEmpty {
      // Words after "--" belong to the repeated argument, so an optional argument before it stays empty.
      if endsInMany, !input.isRepeated, !input.isRequired, let dashes = operandsBeforeDashes, rest.startIndex >= dashes
      {
        continue
      }
      let count = input.isRepeated ? rest.count : 1
      assigned[input.label] = Array(rest.prefix(count))
      rest = rest.dropFirst(count)
    }
    if let extra = rest.first {
      throw .usage("unexpected argument: \"\(extra)\"", hint: "run \(usage)")
    }
    return assigned
  }
}

/// The words as a list in a sentence: `a, b or c`.
func listed(_ words: [String], _ conjunction: String = "or") -> String {
  guard let last = words.last, words.count > 1 else { return words.first ?? "" }
  return words.dropLast().joined(separator: ", ") + " \(conjunction) \(last)"
}
