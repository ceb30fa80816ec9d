import Administration
import CommandKit
import RegentJSON
import RegentPairing

/// The commands of `regentctl client` about registration tokens.
enum ClientInvitations {
  static let commands = [invite, list, revoke]

  private static let invite = verb(
    "invite", "create a token with which a program registers itself as a client",
    details: """
      The program sends the token when it registers (RFC 7591: initial access token), and needs no software statement \
      then. The token is shown only now. It works once (--uses) and for one day (--expires). The program chooses its \
      own name; the token does not verify it.
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
    if !call.wantsJSON { call.console.note("the token is not shown again; store it now") }
  }

  private static let list = verb(
    "invitations", "list registration tokens that are still valid", inputs: [optionalRequestor],
    example: "client invitations acme"
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
    "uninvite", "revoke a registration token; clients that used it stay registered", inputs: [id],
    example: "client uninvite 4f2a9c01"
  ) { call, admin in
    try await admin.revokeClientInvitation(call[id])
    call.say("invitation \(call[id]) revoked", ["id": .string(call[id].text)])
  }

  private static let uses = Input.option(
    "uses", .integer(1...10_000), default: 1, "the number of clients that may register with it")
  private static let expires = Input.option(
    "expires", .duration(.seconds(60)...(.seconds(ClientInvitationEntry.mostSeconds))),
    default: .seconds(ClientInvitationEntry.usualSeconds), "the time for which the token is valid")
  private static let id = Input.argument("ID", identifier("ID", Names.Enrolment.self), "the invitation's id")
    .completed(from: { admin throws(AdminError) in try await admin.clientInvitations() }) {
      Candidate($0.id.text, $0.requestor.text)
    }
}
