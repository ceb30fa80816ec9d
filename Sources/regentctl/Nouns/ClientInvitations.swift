import Administration
import CommandKit
import RegentJSON
import RegentPairing

/// The verbs of `regentctl client` about tokens with which clients register themselves.
enum ClientInvitations {
  static let commands = [invite, list, revoke]

  private static let invite = verb(
    "invite", "make a token with which a client registers itself",
    details: """
      The program shows it when it registers (RFC 7591 calls it the initial access token), and needs no software \
      statement then. It is shown this once, works once unless --uses says otherwise, and for a day. What the program \
      calls itself is still only what it calls itself.
      """,
    inputs: [RequestorNoun.id, uses, expires], example: "client invite acme"
  ) { call, admin in
    let made = try await admin.inviteClients(
      of: call[RequestorNoun.id], uses: call[uses], seconds: Int(call[expires].components.seconds))
    call.show(
      made.json,
      lines: details([
        "id": made.id.text, "token": made.token, "issuer": made.issuer, "clients": String(made.uses),
        "until": shown(made.expires),
      ]))
    if !call.wantsJSON { call.console.note("the token is not shown again: keep it now") }
  }

  private static let list = verb(
    "invitations", "list the tokens that stand", inputs: [optionalRequestor], example: "client invitations acme"
  ) { call, admin in
    call.show(
      list: try await admin.clientInvitations().of(call[optionalRequestor], admin, \.requestor), id: \.id.text,
      [
        Table.Column("ID", .name), Table.Column("REQUESTOR"), Table.Column("CLIENTS"),
        Table.Column("CREATED", .time), Table.Column("EXPIRES", .time),
      ]
    ) {
      [$0.id.text, $0.requestor.text, "\($0.used) of \($0.uses)", shown($0.created), shown($0.expires)]
    }
  }

  private static let revoke = verb(
    "uninvite", "end a token; clients that registered with it stay", inputs: [id], example: "client uninvite 4f2a9c01"
  ) { call, admin in
    try await admin.revokeClientInvitation(call[id])
    call.say("invitation \(call[id]) revoked", ["id": .string(call[id].text)])
  }

  private static let uses = Input.option("uses", .integer(1...10_000), default: 1, "how many clients it is for")
  private static let expires = Input.option(
    "expires", .duration(.seconds(60)...(.seconds(ClientInvitationEntry.mostSeconds))),
    default: .seconds(ClientInvitationEntry.usualSeconds), "how long it works")
  private static let id = Input.argument("ID", identifier("ID", Names.Enrolment.self), "the invitation's id")
    .completed(from: { admin throws(AdminError) in try await admin.clientInvitations() }) {
      Candidate($0.id.text, $0.requestor.text)
    }
}
