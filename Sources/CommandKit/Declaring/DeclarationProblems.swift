extension Program {
  /// Mistakes in the declaration of the program, such as a name used twice.
  ///
  /// The tests of each program require an empty list.
  public var declarationProblems: [String] {
    let common = options.map(\.specification.label) + ["--help", "--version"]
    return repeatedNames(common, in: name) + ruleProblems(rules, among: common, in: name)
      + repeatedNames(allCommands.map(\.name), in: name)
      + zip(offers, commands).filter { $0.name != $1.name }
      .map { "\(name) offers \($1.name) as \($0.name)" }
      + textProblems(summary, of: name)
      + options.flatMap { problems(of: $0.specification, in: name) }
      + commands.flatMap { problems(of: $0, below: [name], common: common) }
  }

  private func problems(of command: Command, below path: [String], common: [String]) -> [String] {
    let place = (path + [command.name]).joined(separator: " ")
    let inputs = command.inputs.map(\.specification)
    var found = textProblems(command.summary, of: place)
    if command.action == nil {
      if command.commands.isEmpty { found.append("\(place) does nothing") }
    } else if !command.example.hasPrefix(place) {
      found.append("the example of \(place) does not begin with it")
    }
    found += repeatedNames(inputs.map(\.label) + common, in: place)
    found += repeatedNames(command.commands.map(\.name), in: place)
    found += inputs.flatMap { problems(of: $0, in: place) }
    found += argumentProblems(inputs.filter { $0.form == .argument }, in: place)
    found += ruleProblems(command.rules, among: inputs.map(\.label), in: place)
    return found
      + command.commands.flatMap { problems(of: $0, below: path + [command.name], common: common) }
  }

  private func problems(of input: InputSpecification, in place: String) -> [String] {
    let isPlain = input.name.allSatisfy { $0.isLowercase || $0.isASCIIDigit || $0 == "-" }
    var found = textProblems(input.help, of: "\(place) \(input.label)")
    if input.form != .argument, !isPlain || input.name.hasPrefix("-") {
      found.append("\(place) \(input.label) is not lower case with dashes")
    }
    if input.form == .option, input.placeholder.isEmpty {
      found.append("\(place) \(input.label) does not say what its value is")
    }
    return found
  }

  private func argumentProblems(_ arguments: [InputSpecification], in place: String) -> [String] {
    var found: [String] = []
    for (argument, next) in zip(arguments, arguments.dropFirst()) {
      if argument.isRepeated { found.append("\(place) has words behind \(argument.name) …") }
      if !argument.isRequired, next.isRequired {
        found.append(
          "\(place) has \(next.name), which is needed, behind \(argument.name), which is not")
      }
    }
    return found
  }

  private func ruleProblems(
    _ rules: [InputRule], among labels: [String], in place: String
  ) -> [String] {
    rules.flatMap(\.inputs).map(\.specification.label).filter { !labels.contains($0) }
      .map { "a rule of \(place) names \($0), which it does not have" }
  }

  private func textProblems(_ text: String, of place: String) -> [String] {
    var found: [String] = []
    if text.isEmpty { found.append("\(place) is not explained") }
    if text.hasSuffix(".") { found.append("\(place): help ends without a full stop") }
    if displayWidth(text) > 120 { found.append("\(place): help is longer than 120 columns") }
    return found
  }

  private func repeatedNames(_ names: [String], in place: String) -> [String] {
    Set(names).filter { name in names.count { $0 == name } > 1 }.sorted()
      .map { "\(place) has \($0) twice" }
  }
}
