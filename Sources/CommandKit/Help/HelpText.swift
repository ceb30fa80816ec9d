// Help pages for the program, for each noun and for each verb.

/// The maximum width of help, also on wider terminals: long lines are hard to read.
private let widestHelp = 100
private let helpIndent = 2
private let widestLeftColumn = 30
private let examplesOfNoun = 3

extension Program {
  /// The lines of the help page of the program (empty path), a noun or a verb.
  func helpLines(for path: [Command], width: Int?) -> [String] {
    let width = min(max(width ?? 80, 40), widestHelp)
    let page = HelpPage(self, path)
    var lines = wrapped("\(page.calledAs): \(page.summary)", width)
    lines += [""] + page.usageLines
    for paragraph in paragraphs(page.details) { lines += [""] + wrapped(paragraph, width) }
    let left = leftColumn(page.blocks.flatMap(\.rows))
    for (heading, rows) in page.blocks where !rows.isEmpty {
      lines += ["", "\(heading):"] + twoColumns(rows, left: left, width)
    }
    for note in page.notes { lines += [""] + wrapped(note, width) }
    if !path.isEmpty, !options.isEmpty { lines += [""] + wrapped(commonOptions, width) }
    let examples = page.examples
    if !examples.isEmpty { lines += ["", examples.count == 1 ? "example:" : "examples:"] + examples.map { "  \($0)" } }
    return lines
  }

  /// The names of the options that all commands have.
  ///
  /// Their thirty lines of help would hide the command's own options.
  private var commonOptions: String {
    let names = (options + [Program.help]).map(\.specification.label)
    return "Common options: \(names.joined(separator: ", ")); see \"\(name) --help\"."
  }
}

/// The content of a help page, which the manual page uses, too.
struct HelpPage {
  let calledAs: String
  let summary: String
  let details: String
  /// The verb's own example; for the program and for nouns, the examples of the first commands.
  let examples: [String]
  let usageLines: [String]
  let blocks: [(heading: String, rows: [(left: String, right: String)])]
  let notes: [String]

  init(_ program: Program, _ path: [Command]) {
    let command = path.last
    calledAs = ([program.name] + path.map(\.name)).joined(separator: " ")
    summary = command?.summary ?? program.summary
    details = command?.details ?? program.details
    let commands = (command.map(\.commands) ?? program.allCommands).filter { !$0.isHidden }
    examples =
      commands.isEmpty
      ? [command?.example ?? ""].filter { !$0.isEmpty } : commands.prefix(examplesOfNoun).map(firstExample)
    let forms = command?.usageForms.map { "\(program.name) \($0)" } ?? []
    usageLines =
      forms.isEmpty
      ? ["usage: " + usageText(calledAs, command)]
      : forms.enumerated().map { ($0.offset == 0 ? "usage: " : "       ") + $0.element }

    let sections = command?.sections ?? []
    let arguments = sections.flatMap(\.inputs).filter { $0.specification.form == .argument }
    var blocks = [(heading: "commands", rows: commands.map { ($0.name, $0.summary) })]
    blocks.append(("arguments", arguments.map(row)))
    for section in sections {
      let rows = section.inputs.filter { $0.specification.form != .argument }.map(row)
      blocks.append((section.heading.isEmpty ? "options" : section.heading, rows))
    }
    if path.isEmpty {
      let common = program.options + [Program.help, Program.versionFlag]
      blocks.append(("options", common.map(commonRow)))
    }
    self.blocks = blocks

    var notes: [String] = []
    if let prefix = command?.environmentPrefix, let option = sections.firstOption {
      let several = sections.flatMap(\.inputs).contains { $0.specification.isRepeated }
      notes.append(
        "Each option can also be set by an environment variable, for example --\(option.name) by "
          + "\(prefix)\(environmentName(option.name))"
          + (several ? "; separate several values with spaces" : "")
          + ". The command line takes precedence.")
    }
    if !commands.isEmpty {
      notes.append("Run \"\(calledAs) COMMAND --help\" for more about a command.")
    }
    self.notes = notes
  }
}

/// The example of a verb, or of the first verb below a noun.
private func firstExample(_ command: Command) -> String {
  command.commands.first { !$0.isHidden }.map(firstExample) ?? command.example
}

extension CommandLineWords {
  /// The usage line of the command, for hints.
  var usage: String {
    command?.usageForms.first.map { "\(program.name) \($0)" } ?? usageText(calledAs, command)
  }
}

func environmentName(_ option: String) -> String {
  String(decoding: option.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }, as: UTF8.self).uppercased()
}

/// The words joined to one text; used for every command line.
///
/// `joined(separator:)` searches the protocol conformances of the whole program at its first use. That takes 100,000
/// instructions, a twentieth of a short command.
func wordList(_ words: [String], between separator: String) -> String {
  var text = words.first ?? ""
  for word in words.dropFirst() { text += separator + word }
  return text
}

private func usageText(_ calledAs: String, _ command: Command?) -> String {
  guard let command, command.commands.isEmpty else { return "\(calledAs) COMMAND …" }
  let specifications = command.inputs.map(\.specification)
  let choices = command.rules.compactMap(\.requiredChoice)
  let required = specifications.filter { $0.form != .argument && $0.isRequired }
  let arguments = specifications.filter { $0.form == .argument }
  let hasMore = specifications.contains { input in
    input.form != .argument && !input.isRequired && !choices.joined().contains(input.label)
  }
  var parts = [calledAs] + arguments.map(\.inUsage) + required.map(\.inUsage)
  parts += choices.map { labels in
    labels.compactMap { label in specifications.first { $0.label == label }?.inUsage }
      .joined(separator: " | ")
  }.map { "(\($0))" }
  return (parts + (hasMore ? ["[options]"] : [])).joined(separator: " ")
}

extension InputRule {
  fileprivate var requiredChoice: [String]? {
    switch self {
    case .oneOf(let inputs), .someOf(let inputs): inputs.map(\.specification.label)
    case .atMostOne, .together: nil
    }
  }
}

extension InputSpecification {
  /// The input as a usage line shows it: `--name TEXT`, `ID` or `[RESOURCE …]`.
  fileprivate var inUsage: String {
    let more = isRepeated ? " …" : ""
    switch form {
    case .flag: return label
    case .option: return "\(label) \(placeholder)\(more)"
    case .argument: return isRequired ? name + more : "[\(name)\(more)]"
    }
  }
}

extension [InputSection] {
  fileprivate var firstOption: InputSpecification? {
    flatMap(\.inputs).map(\.specification).first { $0.form != .argument }
  }
}

/// A row of a common option, with its environment variable: not all programs have a prefix for them.
private func commonRow(_ input: any InputDeclaration) -> (left: String, right: String) {
  let (left, right) = row(input)
  guard let variable = input.specification.environment else { return (left, right) }
  return (left, "\(right) (environment: \(variable))")
}

/// A row of two columns: how the input is written, and its help with the default.
private func row(_ input: any InputDeclaration) -> (left: String, right: String) {
  let specification = input.specification
  let left =
    switch specification.form {
    case .flag: specification.label
    case .option: "\(specification.label) \(specification.placeholder)"
    case .argument: specification.name
    }
  var asides: [String] = []
  if let text = specification.defaultText, !text.isEmpty { asides.append("default: \(text)") }
  if specification.isRepeated, specification.form == .option { asides.append("may be repeated") }
  let aside = asides.isEmpty ? "" : " (\(asides.joined(separator: "; ")))"
  return (left, specification.help + aside)
}

/// The width of the left column, the same for all blocks of a page.
private func leftColumn(_ rows: [(left: String, right: String)]) -> Int {
  rows.map { displayWidth($0.left) }.filter { $0 <= widestLeftColumn }.max() ?? widestLeftColumn
}

private func twoColumns(
  _ rows: [(left: String, right: String)], left: Int, _ width: Int
) -> [String] {
  let indent = String(repeating: " ", count: helpIndent)
  let margin = helpIndent + left + 2
  return rows.flatMap { row in
    let text = wrapped(row.right, width - margin)
    let fits = displayWidth(row.left) <= left
    var lines = fits ? [] : [indent + row.left]
    for (index, line) in text.enumerated() {
      let start = index == 0 && fits ? indent + padded(row.left, to: left) + "  " : ""
      lines.append(padded(start, to: margin) + line)
    }
    return lines
  }
}
