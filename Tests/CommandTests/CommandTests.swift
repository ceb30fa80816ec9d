import FoundationEssentials
import TestSupport
import Testing

/// Each script in `Scripts`: the commands that people type, and exactly what they see.
@Suite struct `Command scripts` {
  @Test(arguments: try scriptNames())
  func `each command script prints exactly the output that is written in it`(script: String) throws {
    let text = String(decoding: try readFile("\(scriptsFolder)/\(script)"), as: UTF8.self)
    let steps = try parseScript(text)
    #expect(!steps.isEmpty)
    // Scripts of regentctl need a running service; those of regentd start their own.
    guard script.hasPrefix("regentctl-") else {
      return try withTemporaryFolder { try play(script, steps, in: $0) }
    }
    try withService { try play(script, steps, in: $0.folder, service: $0.url) }
  }

  private func play(
    _ script: String, _ steps: [ScriptStep], in folder: String, service: String? = nil
  ) throws {
    for step in steps {
      let answer = try perform(step, in: folder, service)
      let difference = step.difference(from: answer)
      #expect(difference == nil, "\(script):\(step.line): \(difference ?? "")")
    }
  }

  @Test func `the script runner compares output line by line, with wildcards`() throws {
    let script = """
      # a comment
      $ something
      one [..] three
      ...
      last
      ! an error on [..]
      ? 3
      """
    let step = try #require(try parseScript(script).first)
    #expect(step.command == "something")
    let good = StepAnswer(
      output: "one two three\nx\ny\nlast\n", errors: "an error on fire\n", status: 3)
    #expect(step.difference(from: good) == nil)
    for bad in [
      StepAnswer(output: "one two\nlast\n", errors: "an error on fire\n", status: 3),
      StepAnswer(output: "one two three\nlast\nmore\n", errors: "an error on fire\n", status: 3),
      StepAnswer(output: "one two three\nlast\n", errors: "", status: 3),
      StepAnswer(output: "one two three\nlast\n", errors: "an error on fire\n", status: 0),
      StepAnswer(output: "one two three\nlast", errors: "an error on fire\n", status: 3),
    ] { #expect(step.difference(from: bad) != nil) }
  }
}

private let scriptsFolder = packageFolder() + "/Tests/CommandTests/Scripts"

private func scriptNames() throws -> [String] {
  try FileManager.default.contentsOfDirectory(atPath: scriptsFolder).filter { $0.hasSuffix(".txt") }
    .sorted()
}

/// Runs one step in a shell with the folder as its home, the built programs in its path and no other environment.
private func perform(_ step: ScriptStep, in folder: String, _ service: String?) throws
  -> StepAnswer
{
  var environment = [
    "HOME": folder, "PATH": "\(try productsFolder()):/usr/bin:/bin", "LC_ALL": "C.UTF-8",
    "REGENT_WEB": "\(packageFolder())/web",
  ]
  environment["SERVICE"] = service
  let finished = try run(
    "sh", ["-c", "cd \"$HOME\" && \(step.command)"], environment: environment)
  // The folder's name differs in each run.
  let shown = { (text: String) in text.replacing(folder, with: "$HOME") }
  return StepAnswer(
    output: shown(finished.outputText), errors: shown(finished.errorText), status: finished.status)
}
