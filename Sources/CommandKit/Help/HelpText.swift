// Help as people see it: one page for the program, one for each noun and each verb.

/// Help is never wider than this, however wide the terminal is: long lines are hard to read.
private let widestHelp = 100
private let helpIndent = 2
private let widestLeftColumn = 30
private let examplesOfNoun = 3

extension Program {
  /// The help page of the program (empty path), of a noun or of a verb.
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

  /// The options that all commands have, by name: thirty lines that are the same on every page would hide the others.
  private var commonOptions: String {
    let names = (options + [Program.help]).map(\.specification.label)
    return "Common options: \(names.joined(separator: ", ")); see \"\(name) --help\"."
  }
}

/// What a help page and a page of the manual have in common.
struct HelpPage {
  let calledAs: String
  let summary: String
  let details: String
  /// The command's own example; for a program or a noun, those of its first commands.
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
  /// How the command is called, on one line, for hints.
  var usage: String {
    command?.usageForms.first.map { "\(program.name) \($0)" } ?? usageText(calledAs, command)
  }
}

func environmentName(_ option: String) -> String {
  String(decoding: option.utf8.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "_") : $0 }, as: UTF8.self).uppercased()
}

/// The words in one text, for what every command line needs.
///
/// `joined` does the same, and has the runtime look for conformances among those of the whole program: 100,000
/// instructions, a twentieth of what a short command takes from its first line on.
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
  /// `--name TEXT`, `ID`, `[RESOURCE …]`.
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

/// Options of the program name their variables one by one, because not all programs have a rule for them.
private func commonRow(_ input: any InputDeclaration) -> (left: String, right: String) {
  let (left, right) = row(input)
  guard let variable = input.specification.environment else { return (left, right) }
  return (left, "\(right) (environment: \(variable))")
}

/// The left column says how to write it, the right one what it does and what happens without it.
private func row(_ input: any InputDeclaration) -> (left: String, right: String) {
  let specification = input.specification
  let left =
    switch specification.form {
    case .flag: specification.label
    case .option: "\(specification.label) \(specification.placeholder)"
    case .argument: specification.name
    }
  var asides: [String] = []
  if let text = specification.defaultText, !text.isEmpty { asides.append("default \(text)") }
  if specification.isRepeated, specification.form == .option { asides.append("may be repeated") }
  let aside = asides.isEmpty ? "" : " (\(asides.joined(separator: "; ")))"
  return (left, specification.help + aside)
}

/// One width for all blocks of a page, so that its texts begin at one edge.
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
