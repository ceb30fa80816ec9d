/// What the shell completes at the cursor: words, files or folders.
enum Completion: Equatable {
  case words([Candidate])
  case files
  case folders
}

extension Program {
  /// Completes the last of `words`, which may be empty.
  func complete(_ words: [String], _ environment: Environment) async -> Completion {
    let typed = words.last ?? ""
    let before = Array(words.dropLast())
    // After "--" only arguments may follow.
    let onlyWords = before.contains("--")
    let line = CommandLineWords(before, of: self)
    // After an unknown command nothing useful can be offered.
    if line.isLost { return .words([]) }
    let known = line.knownInputs.map(\.specification)
    if !onlyWords, let last = before.last, let input = known.first(where: { $0.label == last }),
      input.form == .option
    {
      let line = CommandLineWords(Array(before.dropLast()), of: self)
      return await complete(input, typed, prefix: "", line, environment)
    }
    if !onlyWords, typed.hasPrefix("-"), typed != "-" || !known.isEmpty {
      return await completeOption(typed, known, line, environment)
    }
    let commands = line.path.last.map(\.commands) ?? allCommands
    if !commands.isEmpty {
      let visible = commands.filter { !$0.isHidden }
      return .words(matching(visible.map { Candidate($0.name, $0.summary) }, typed))
    }
    let arguments = known.filter { $0.form == .argument }
    guard
      let input = arguments.dropFirst(line.operands.count).first
        ?? arguments.last(where: \.isRepeated)
    else { return .words([]) }
    return await complete(input, typed, prefix: "", line, environment)
  }

  private func completeOption(
    _ typed: String, _ known: [InputSpecification], _ line: CommandLineWords,
    _ environment: Environment
  ) async -> Completion {
    if let equals = typed.firstIndex(of: "=") {
      let label = String(typed[..<equals])
      guard let input = known.first(where: { $0.label == label && $0.form == .option }) else {
        return .words([])
      }
      let value = String(typed[typed.index(after: equals)...])
      return await complete(input, value, prefix: "\(label)=", line, environment)
    }
    let open = known.filter { input in
      input.form != .argument && (input.isRepeated || line.options[input.label] == nil)
    }
    let candidates = open.map { Candidate($0.label, $0.help) } + [Candidate("--help", "show help")]
    return .words(matching(candidates, typed))
  }

  private func complete(
    _ input: InputSpecification, _ typed: String, prefix: String, _ line: CommandLineWords,
    _ environment: Environment
  ) async -> Completion {
    let candidates: [Candidate]
    switch input.completion {
    case .nothing: candidates = []
    // Shells that complete files do not expect "--name=" in front of them.
    case .files: return prefix.isEmpty ? .files : .words([])
    case .folders: return prefix.isEmpty ? .folders : .words([])
    case .words(let words): candidates = words.map { Candidate($0) }
    case .dynamic(let find):
      let request = CompletionRequest(beginning: typed, words: line, environment: environment)
      candidates = await find(request)
    }
    // Words that need quoting or contain control characters are not offered. An attacker's device may have such a name.
    let safe = candidates.filter { candidate in
      candidate.word.utf8.allSatisfy { isPlain($0) } && !candidate.word.isEmpty
    }
    return .words(
      matching(safe, typed).map { Candidate(prefix + $0.word, harmless($0.summary)) })
  }
}

private func matching(_ candidates: [Candidate], _ typed: String) -> [Candidate] {
  candidates.filter { $0.word.hasPrefix(typed) }
}

/// Whether the character needs no quoting in bash, zsh and fish.
private func isPlain(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "0")...UInt8(ascii: "9"):
    true
  default: "-_./:@%+,=|".utf8.contains(byte) && byte != UInt8(ascii: "|")
  }
}
