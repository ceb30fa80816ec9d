import Administration
import CommandKit
import RegentJSON
import RegentPairing

/// `regentctl invitation`, and the verb of `regentctl requestor` that makes one.
enum InvitationNoun {
  static let command = Command(
    "invitation", "enrolment codes for new boxes that are not used up yet",
    details: "They are made by regentctl requestor invite, and end by themselves.",
    commands: [
      verb("list", "list the invitations that stand", inputs: [optionalRequestor], example: "invitation list acme") {
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
        "revoke", "end an invitation; boxes that have redeemed it stay what they are", inputs: [id],
        example: "invitation revoke 7K3M"
      ) { call, admin in
        try await admin.revokeInvitation(call[id])
        call.say("invitation \(call[id]) revoked", ["id": .string(call[id].text)])
      },
    ])

  static let invite = verb(
    "invite", "make an enrolment code for a new box",
    details: """
      The code is typed into the box (regent setup asks for it), which gets a key pair of its own for it: nobody types \
      a secret. It is shown this once, works once unless --uses says otherwise, and for an hour. Whoever reads it \
      meanwhile can enrol a box, so tell it as you would tell a password. A box that enrolled is put out with \
      regentctl key revoke.
      """,
    inputs: [RequestorNoun.id, uses, expires], example: "requestor invite acme"
  ) { call, admin in
    let made = try await admin.invite(
      call[RequestorNoun.id], uses: call[uses], seconds: Int(call[expires].components.seconds))
    call.show(made.json, lines: lines(of: made))
  }

  static func lines(of made: IssuedInvitation) -> [String] {
    details([
      "code": made.code, "service": made.service, "boxes": String(made.uses), "until": shown(made.expires),
      "on the box": "regent setup --code '\(made.service)#\(made.code)'",
    ])
  }

  private static let uses = Input.option("uses", .integer(1...100), default: 1, "how many boxes it is for")
  private static let expires = Input.option(
    "expires", .duration(.seconds(60)...(.seconds(InvitationEntry.mostSeconds))),
    default: .seconds(InvitationEntry.usualSeconds), "how long it works")
  private static let id = Input.argument(
    "ID", identifier("ID", Names.Enrolment.self), "the first four letters of the code"
  ).completed(from: { admin throws(AdminError) in try await admin.invitations() }) {
    Candidate($0.id.text, $0.requestor.text)
  }
}
