/// The words of a command line, split into the command, its options (as texts) and its arguments.
struct CommandLineWords {
  /// The commands that the words name, outermost first: noun, verb.
  private(set) var path: [Command] = []
  /// The texts given for each option, by label.
  private(set) var options: [String: [String]] = [:]
  /// The words that are neither commands nor options.
  private(set) var operands: [String] = []
  /// The number of arguments before "--"; nil without "--".
  private(set) var operandsBeforeDashes: Int?
  /// Whether an unknown word stood where a command was expected.
  private(set) var isLost = false
  private(set) var wantsHelp = false
  private(set) var wantsVersion = false
  /// The first error in the command line.
  ///
  /// Help is printed nevertheless if the user asked for it.
  private(set) var problem: CommandError?

  let program: Program

  init(_ arguments: [String], of program: Program) {
    self.program = program
    var rest = arguments[...]
    while let word = rest.popFirst() {
      if word == "--" {
        operandsBeforeDashes = operands.count
        rest.forEach { take(word: $0) }
        return
      }
      if word.hasPrefix("-"), word != "-" {
        take(option: word, &rest)
      } else {
        take(word: word)
      }
    }
  }

  /// The command to run: the last one that the words name.
  var command: Command? { path.last }

  /// The options that are valid at this point: those of the program and of the commands named so far.
  var knownInputs: [any InputDeclaration] {
    program.options + path.flatMap(\.inputs)
  }

  var rules: [InputRule] { program.rules + path.flatMap(\.rules) }

  private mutating func take(word: String) {
    let below = path.last?.commands
    if let below, below.isEmpty {
      operands.append(word)
    } else if let command = below.map({ $0.first { $0.name == word } }) ?? program.command(named: word) {
      path.append(command)
    } else if path.isEmpty, word == "help" {
      wantsHelp = true
    } else {
      isLost = true
      note(unknownCommand(word, among: below ?? program.allCommands))
    }
  }

  private mutating func take(option word: String, _ rest: inout ArraySlice<String>) {
    if word == "--help" || word == "-h" {
      wantsHelp = true
      return
    }
    if word == "--version", path.isEmpty {
      wantsVersion = true
      return
    }
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let label = String(parts[0])
    let attached = parts.count == 2 ? String(parts[1]) : nil
    let known = knownInputs.map(\.specification).filter { $0.form != .argument }
    guard let input = known.first(where: { $0.label == label }) else {
      note(unknownOption(label, among: known))
      return
    }
    switch (input.form, attached) {
    case (.flag, nil): options[label, default: []].append("on")
    case (.flag, .some): note(.usage("\(label) takes no value", hint: "use \(label) without a value"))
    case (_, .some(let value)): options[label, default: []].append(value)
    case (_, nil):
      guard let value = rest.first, !value.hasPrefix("-") || value == "-" else {
        note(missingValue(of: input, before: rest.first))
        return
      }
      rest.removeFirst()
      options[label, default: []].append(value)
    }
  }

  private mutating func note(_ error: CommandError) {
    if problem == nil { problem = error }
  }
}

extension CommandLineWords {
  /// The program with the commands named, such as `regentctl requestor add`.
  var calledAs: String { ([program.name] + path.map(\.name)).joined(separator: " ") }

  private func unknownCommand(_ word: String, among commands: [Command]) -> CommandError {
    let names = commands.filter { !$0.isHidden }.map(\.name)
    // A proposal may be a noun followed by a verb.
    let known = program.nearWords(word.lowercased()).first { proposal in
      names.contains { proposal == $0 || proposal.hasPrefix($0 + " ") }
    }
    let nearest = known ?? nearest(to: word, among: names)
    let hint = nearest.map { "did you mean \"\(calledAs) \($0)\"?" }
    return .usage(
      "\(calledAs) has no command \"\(word)\"", hint: hint ?? "list the commands: \(calledAs) --help"
    )
  }

  private func unknownOption(_ label: String, among known: [InputSpecification]) -> CommandError {
    let words = known.map(\.label) + ["--help"]
    if Self.secrets.contains(label) {
      return .usage(
        "\(calledAs) has no option \(label): other users could read it in the list of processes",
        hint: "type it when you are asked, or pass it as the first line of standard input")
    }
    // The hint never proposes the opposite of what was typed (`--tls` for `--no-tls`), however similar the names are.
    if let nearest = nearest(to: label, among: words.filter { !$0.isOpposite(of: label) }) {
      return .usage("\(calledAs) has no option \(label)", hint: "did you mean \(nearest)?")
    }
    // A common mistake: the option stands before the command that declares it.
    let commands = path.last.map(\.commands) ?? program.allCommands
    if commands.contains(where: { $0.has(option: label) }) {
      return .usage(
        "\(label) is an option of a command", hint: "put it after the command: \(calledAs) … \(label)"
      )
    }
    return .usage(
      "\(calledAs) has no option \(label)", hint: "list the options: \(calledAs) --help")
  }

  private static let secrets: Set<String> = ["--password", "--passphrase", "--secret"]

  private func missingValue(of input: InputSpecification, before next: String?) -> CommandError {
    let hint = next.map { next in
      "for a value that begins with a dash, use \(input.label)=\(next)"
    }
    return .usage(
      "\(input.label) needs a value", hint: hint ?? "use \(input.label) \(input.placeholder)")
  }
}

extension String {
  /// Whether one option is the negation of the other, such as `--no-password` and `--password`.
  fileprivate func isOpposite(of label: String) -> Bool {
    self == "--no-" + label.dropFirst(2) || label == "--no-" + dropFirst(2)
  }
}

extension Command {
  fileprivate func has(option label: String) -> Bool {
    inputs.contains { $0.specification.label == label }
      || commands.contains { $0.has(option: label) }
  }
}
