import Administration
import CommandKit
import QRCode
import RegentJSON
import RegentPairing

/// The commands of `regentctl invitation`, and `regentctl requestor invite`.
enum InvitationNoun {
  static let command = Command(
    "invitation", "enrolment codes for new boxes",
    details: "Create one with \"regentctl requestor invite\". An unused code expires by itself.",
    commands: [
      verb(
        "list", "list enrolment codes that can still be used", inputs: [optionalRequestor],
        example: "invitation list acme"
      ) {
        call, admin in
        call.show(
          list: try await admin.invitations().of(call[optionalRequestor], admin, \.requestor), id: \.id.text,
          [
            Table.Column("ID", .name), Table.Column("REQUESTOR"), Table.Column("BOXES"),
            Table.Column("CREATED", .time), Table.Column("EXPIRES", .time),
          ]
        ) {
          [
            $0.id.text, $0.requestor.text, "\($0.boxes.count) of \($0.uses)", shown($0.created), shown($0.expires),
          ]
        }
      },
      verb(
        "revoke", "revoke an enrolment code; boxes that used it stay enrolled", inputs: [id],
        example: "invitation revoke 7K3M"
      ) { call, admin in
        try await admin.revokeInvitation(call[id])
        call.say("invitation \(call[id]) revoked", ["id": .string(call[id].text)])
      },
    ])

  static let invite = verb(
    "invite", "create an enrolment code for a new box",
    details: """
      Run "regent setup" on the box and type the code there. The box gets its own key pair for it. The code is shown \
      only now. It works once (--uses) and for one hour (--expires). Treat it like a password: it lets any box enrol. \
      To remove a box that enrolled, run "regentctl key revoke".
      """,
    inputs: [RequestorNoun.id, uses, expires], example: "requestor invite acme"
  ) { call, admin in
    let made = try await admin.invite(
      call[RequestorNoun.id], uses: call[uses], seconds: Int(call[expires].components.seconds))
    call.show(made.json, lines: lines(of: made))
    draw(made, call)
  }

  /// Creates an enrolment code for one box, valid for one hour.
  static func first(of requestor: RequestorID, _ admin: AdminClient) async throws(AdminError) -> IssuedInvitation {
    try await admin.invite(requestor, uses: 1, seconds: InvitationEntry.usualSeconds)
  }

  static func lines(of made: IssuedInvitation) -> [String] {
    details([
      "code": made.code, "service": made.service, "boxes": String(made.uses), "until": shown(made.expires),
      "on the box": "sudo regent setup --code '\(made.whole)'",
    ])
  }

  /// Draws the argument of `regent setup --code` as a QR code, if there is a terminal.
  ///
  /// A phone next to the box can then show the code, so that it need not be copied by hand. If a browser opens it, the
  /// part after # stays on the phone. Nothing is drawn on a terminal that is too narrow.
  static func draw(_ made: IssuedInvitation, _ call: Invocation) {
    let facts = TerminalFacts(of: 1, call.environment)
    guard !call.wantsJSON, call.console.output.isTerminal, facts.canBeDrawnOn, let code = try? QRCode(made.whole)
    else { return }
    let text = TerminalText(
      facts.capabilities.glyphs == .halfBlocks ? .halfBlocks : .fullBlocks,
      colours: facts.capabilities.depth == .palette ? .ansi256 : .ansi8)
    guard let text = code.fitted(text, columns: call.console.output.columns()) else { return }
    for line in code.lines(text) { call.console.draw(line + "\n") }
  }

  private static let uses = Input.option(
    "uses", .integer(1...100), default: 1, "the number of boxes that may enrol with it")
  private static let expires = Input.option(
    "expires", .duration(.seconds(60)...(.seconds(InvitationEntry.mostSeconds))),
    default: .seconds(InvitationEntry.usualSeconds), "the time for which the code is valid")
  private static let id = Input.argument(
    "ID", identifier("ID", Names.Enrolment.self), "the first four characters of the code"
  ).completed(from: { admin throws(AdminError) in try await admin.invitations() }) {
    Candidate($0.id.text, $0.requestor.text)
  }
}

extension IssuedInvitation {
  /// The service's address and the code in one, as `regent setup --code` accepts them.
  fileprivate var whole: String { "\(service)#\(code)" }
}
