import Administration
import CommandKit
import RegentJSON

/// The command `regentctl why`, which explains why a box may or may not watch a title.
enum WhyVerb {
  static let command = verb(
    "why", "explain why a box may or may not watch a title",
    details: """
      Checks everything that the service checks, in its order: sign-in, key pair, account, integration, rule or \
      channel, permit, clock. The last line is the result. The exit code is 1 if the box may not watch the title.
      """,
    inputs: [box, title], example: "why 3f9a0c21d4e5b687 news-1"
  ) { call, admin in
    let findings = try await admin.why(call[box], title: call[title]).map(KnownAdvice.checked)
    let obstacle = findings.first { $0.status == .bad }
    let answer =
      obstacle.map { "may not watch \(call[title] ?? "anything"): \($0.detail)" }
      ?? call[title].map { "may watch \($0)" } ?? "nothing prevents watching"
    call.show(.array(findings.map(\.json)), lines: findings.flatMap(UpkeepVerbs.lines) + [answer])
    if obstacle != nil { throw QuietExit(.failed) }
  }

  private static let box = Input.argument(
    "BOX", .text("ID"), "the box's short id, its full device id, or the name that it was given")
  private static let title = Input.optionalArgument(
    "TITLE", .text("TITLE"), "the title as the app requests it; left out: check what applies to all titles")
}
