extension Program {
  /// The manual page in roff, with everything that the help pages have.
  public func manualPage() -> String {
    var roff = Roff()
    roff.line(".TH \(name.uppercased()) \(manualSection) \"\" \"\(name) \(version)\" \"\"")
    roff.heading("NAME")
    roff.text("\(name) \\- ", escapedAlready: true, then: summary)
    roff.heading("SYNOPSIS")
    roff.bold(name, "[options] COMMAND …")
    if !details.isEmpty {
      roff.heading("DESCRIPTION")
      roff.paragraphs(of: details)
    }
    roff.heading("OPTIONS")
    options.forEach { roff.input($0.specification) }
    [Program.help, Program.versionFlag].forEach { roff.input($0.specification) }
    roff.heading("COMMANDS")
    for path in verbs(allCommands, below: []) { describe(path, in: &roff) }
    let variables = environment
    if !variables.isEmpty {
      roff.heading("ENVIRONMENT")
      for (name, label) in variables { roff.item(name, "sets \(label)") }
    }
    roff.heading("EXIT STATUS")
    for (code, meaning) in exitCodes { roff.item(String(code.rawValue), meaning) }
    if !seeAlso.isEmpty {
      roff.heading("SEE ALSO")
      roff.text(seeAlso.joined(separator: ", "))
    }
    return roff.source
  }

  /// Each environment variable once with its option, in the order of the options.
  private var environment: [(name: String, label: String)] {
    let inputs = options + verbs(allCommands, below: []).compactMap(\.last).flatMap(\.inputs)
    var seen: Set<String> = []
    return inputs.map(\.specification).compactMap { input in
      guard let name = input.environment, seen.insert(name).inserted else { return nil }
      return (name, input.label)
    }
  }

  private func verbs(_ commands: [Command], below path: [Command]) -> [[Command]] {
    commands.filter { !$0.isHidden }.flatMap { command in
      command.commands.isEmpty
        ? [path + [command]] : verbs(command.commands, below: path + [command])
    }
  }

  private func describe(_ path: [Command], in roff: inout Roff) {
    guard let command = path.last else { return }
    let page = HelpPage(self, path)
    roff.subheading(page.calledAs)
    roff.text(sentence(command.summary))
    roff.paragraph()
    roff.lines(page.usageLines)
    roff.paragraphs(of: command.details)
    for section in command.sections where !section.inputs.isEmpty {
      if !section.heading.isEmpty { roff.paragraph(italic: capitalised(section.heading)) }
      section.inputs.forEach { roff.input($0.specification) }
    }
    if let note = page.notes.first {
      roff.paragraph()
      roff.text(note)
    }
    for example in page.examples {
      roff.paragraph()
      roff.text("Example:")
      roff.example(example)
    }
  }
}

private func capitalised(_ text: String) -> String {
  text.prefix(1).uppercased() + text.dropFirst()
}
private func sentence(_ text: String) -> String { capitalised(text) + "." }

/// Writes the few roff requests that the manual page needs.
private struct Roff {
  private(set) var source = ""

  mutating func line(_ line: String) { source += line + "\n" }
  mutating func heading(_ text: String) { line(".SH \"\(roffEscaped(text))\"") }
  mutating func subheading(_ text: String) { line(".SS \"\(roffEscaped(text))\"") }
  mutating func paragraph() { line(".PP") }
  mutating func bold(_ bold: String, _ rest: String) {
    line("\\fB\(roffEscaped(bold))\\fR \(roffEscaped(rest))")
  }

  mutating func paragraph(italic text: String) {
    paragraph()
    line("\\fI\(roffEscaped(text))\\fR")
  }

  mutating func text(_ text: String, escapedAlready: Bool = false, then rest: String = "") {
    line((escapedAlready ? text : roffEscaped(text)) + roffEscaped(rest))
  }

  mutating func lines(_ lines: [String]) {
    for (index, text) in lines.enumerated() {
      if index > 0 { line(".br") }
      self.text(text.trimmingPrefix { $0 == " " }.description)
    }
  }

  mutating func paragraphs(of text: String) {
    for paragraph in CommandKit.paragraphs(text) {
      self.paragraph()
      self.text(wrapped(paragraph, 100).joined(separator: "\n"))
    }
  }

  mutating func item(_ term: String, _ text: String) {
    line(".TP")
    line("\\fB\(roffEscaped(term))\\fR")
    line(roffEscaped(text))
  }

  mutating func input(_ input: InputSpecification) {
    line(".TP")
    let value = input.form == .option ? " \\fI\(roffEscaped(input.placeholder))\\fR" : ""
    line("\\fB\(roffEscaped(input.label))\\fR\(value)")
    var text = sentence(input.help)
    if let standard = input.defaultText, !standard.isEmpty { text += " Default: \(standard)." }
    if input.isRepeated { text += " May be repeated." }
    line(roffEscaped(text))
  }

  mutating func example(_ text: String) {
    line(".RS 4\n.nf\n\(roffEscaped(text))\n.fi\n.RE")
  }
}

/// Escapes a text so that roff reads no requests in it: backslashes, and dots or quotes at the start of a line.
private func roffEscaped(_ text: String) -> String {
  text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
    var result = line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" : ""
    for character in line {
      switch character {
      case "\\": result += "\\(rs"
      case "-": result += "\\-"
      case "\"": result += "\\(dq"
      case "'": result += "\\(aq"
      case "`": result += "\\(ga"
      case "^": result += "\\(ha"
      case "~": result += "\\(ti"
      case "…": result += "..."
      default: result.append(character)
      }
    }
    return result
  }.joined(separator: "\n")
}
