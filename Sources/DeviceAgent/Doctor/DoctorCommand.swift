import CommandKit
import RegentHTTPClient
import RegentHTTPCodec
import RegentJSON
import RegentPlatform

/// `regent doctor`: checks the box and says which command fixes a problem.
enum DoctorCommand {
  static func command(_ context: AgentContext) -> Command {
    Command(
      "doctor", "check this box and print how to fix each problem", example: "regent doctor"
    ) { call async throws in
      context.hearsNoSignals()
      let findings = await DoctorChecks(call, context).shownFindings()
      call.show(.array(findings.map(\.document)), lines: findings.flatMap(\.lines))
      if let worst = findings.compactMap(\.exit).first { throw QuietExit(worst) }
    }
  }
}

/// The result of one check.
struct Finding: Sendable, Equatable {
  enum Verdict: String, Sendable { case good, note, bad }

  let subject: String
  let verdict: Verdict
  let sentence: String
  var hint: String?
  /// The exit code of `doctor` because of this finding, if any.
  var exit: ExitCode?

  var document: JSONValue {
    var object: JSONObject = [
      "subject": .string(subject), "verdict": .string(verdict.rawValue),
      "sentence": .string(sentence),
    ]
    if let hint { object["hint"] = .string(hint) }
    return .object(object)
  }

  var lines: [String] {
    let mark =
      switch verdict {
      case .good: "ok  "
      case .note: "note"
      case .bad: "BAD "
      }
    return ["\(mark)  \(subject): \(sentence)"] + (hint.map { ["      hint: \($0)"] } ?? [])
  }

  static func bad(_ subject: String, _ error: CommandError) -> Finding {
    Finding(
      subject: subject, verdict: .bad, sentence: error.message, hint: error.hint,
      exit: error.exit == .unreachable ? .unreachable : .failed)
  }
}
