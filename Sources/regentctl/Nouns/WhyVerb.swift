import Administration
import CommandKit
import RegentJSON

/// `regentctl why`.
enum WhyVerb {
  static let command = verb(
    "why", "say why a box may watch a title, or what is in the way",
    details: """
      Looks at what decides, in the order in which the service does: sign-in, key pair, account, integration, rule or \
      channel, permit, clock. The last line is the answer; exit code 1 means that something is in the way.
      """,
    inputs: [box, title], example: "why 3f9a0c21d4e5b687 news-1"
  ) { call, admin in
    let findings = try await admin.why(call[box], title: call[title])
    let obstacle = findings.first { $0.status == .bad }
    let answer =
      obstacle.map { "in the way: \($0.check): \($0.detail)" }
      ?? call[title].map { "may watch \($0)" } ?? "nothing is in the way"
    call.show(.array(findings.map(\.json)), lines: findings.flatMap(UpkeepVerbs.lines) + [answer])
    if obstacle != nil { throw QuietExit(.failed) }
  }

  private static let box = Input.argument("BOX", .text("ID"), "the box's short id, or its own")
  private static let title = Input.optionalArgument(
    "TITLE", .text("TITLE"), "what the app asks for; without it, what holds for every title")
}
