import TestSupport

// A script is a text file:
//
//     # a comment
//     $ a command for the shell
//     a line of its output; [..] matches any part of a line, a line "..." any number of lines
//     ! a line of its standard error
//     ? the exit code, when it is not 0

/// A command and its expected result.
struct ScriptStep {
  let line: Int
  let command: String
  var output: [Substring] = []
  var errors: [Substring] = []
  var status: Int32 = 0
}

/// The result of a command.
struct StepAnswer {
  let output: String
  let errors: String
  let status: Int32
}

func parseScript(_ text: String) throws -> [ScriptStep] {
  var steps: [ScriptStep] = []
  for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
    if line.hasPrefix("$ ") {
      steps.append(ScriptStep(line: index + 1, command: String(line.dropFirst(2))))
      continue
    }
    if line.hasPrefix("# ") || (line.isEmpty && steps.isEmpty) { continue }
    guard var step = steps.popLast() else {
      throw TestSupportError("line \(index + 1) comes before any command")
    }
    if line.hasPrefix("! ") || line == "!" {
      step.errors.append(line.dropFirst(2))
    } else if line.hasPrefix("? "), let status = Int32(line.dropFirst(2)) {
      step.status = status
    } else {
      step.output.append(line)
    }
    steps.append(step)
  }
  return steps.map { step in
    // Empty lines between steps belong to the script, not to the output.
    var step = step
    while step.output.last?.isEmpty == true { step.output.removeLast() }
    return step
  }
}

extension ScriptStep {
  /// The first difference together with the whole result; nil when the result is as expected.
  func difference(from answer: StepAnswer) -> String? {
    let whole =
      "\n$ \(command)\n\(answer.output)--- errors:\n\(answer.errors)--- exit code \(answer.status)"
    if answer.status != status { return "exit code \(answer.status), expected \(status)\(whole)" }
    if !matches(answer.output, output) { return "other output\(whole)" }
    if !matches(answer.errors, errors) { return "other messages\(whole)" }
    return nil
  }
}

/// Whether the text has the expected lines.
///
/// Text without a line end at its end never matches.
private func matches(_ text: String, _ expected: [Substring]) -> Bool {
  guard text.isEmpty || text.hasSuffix("\n") else { return false }
  var lines = text.split(separator: "\n", omittingEmptySubsequences: false)[...]
  lines.removeLast()
  // Empty lines at the end do not count, as in scripts.
  while lines.last?.isEmpty == true { lines.removeLast() }
  return matches(lines, expected[...])
}

private func matches(_ lines: ArraySlice<Substring>, _ expected: ArraySlice<Substring>) -> Bool {
  guard let first = expected.first else { return lines.isEmpty }
  let rest = expected.dropFirst()
  if first == "..." {
    return (lines.startIndex...lines.endIndex).contains { matches(lines[$0...], rest) }
  }
  guard let line = lines.first, matchesLine(line, first) else { return false }
  return matches(lines.dropFirst(), rest)
}

private func matchesLine(_ line: Substring, _ expected: Substring) -> Bool {
  let parts = expected.split(separator: "[..]", omittingEmptySubsequences: false)
  guard parts.count > 1, let first = parts.first, let last = parts.last else {
    return line == expected
  }
  guard line.hasPrefix(first) else { return false }
  var rest = line.dropFirst(first.count)
  for part in parts.dropFirst().dropLast() {
    guard let found = rest.firstRange(of: part) else { return false }
    rest = rest[found.upperBound...]
  }
  return rest.hasSuffix(last)
}
