import RegentPairing
package import PairingStore
import RegentSQL

extension Tables {
  static let oauthClients = Table<OAuthClientRecord>(
    "oauth_client", version: 2, known: { $0.oauthClients },
    [
      .text("id"), .text("requestor"), .text("origin"), .text("application"), .text("name"), .bytes("secret"),
      .bytes("registration_token"), .text("metadata"), .text("audience"), .number("created"),
      .number("paired"),
    ]
  ) { client, _ in
    [
      .text(client.id.text), .text(client.requestor.text), .text(client.origin.rawValue),
      .optional(client.application?.text), .text(client.name), .optional(client.secret?.bytes),
      .optional(client.registrationToken?.bytes), .text(client.metadata), .optional(client.audience),
      .integer(client.created.milliseconds), .optional(client.paired?.milliseconds),
    ]
  } decode: { fields, _ throws(UnreadableRow) in
    OAuthClientRecord(
      id: try fields.name(), requestor: try fields.name(), origin: try fields.choice(),
      application: try fields.optionalName(), name: try fields.text(), secret: try fields.optionalHash(),
      registrationToken: try fields.optionalHash(), metadata: try fields.text(),
      audience: try fields.optionalText(), created: try fields.instant(), paired: try fields.optionalInstant())
  }

  static let clientInvitations = Table<ClientInvitationRecord>(
    "client_invitation",
    [
      .text("id"), .text("requestor"), .bytes("token"), .number("uses"), .number("created"), .number("expires"),
      .number("used"),
    ]
  ) { one, _ in
    [
      .text(one.id.text), .text(one.requestor.text), .blob(one.token.bytes), .integer(Int64(one.uses)),
      .integer(one.created.milliseconds), .integer(one.expires.milliseconds), .integer(Int64(one.used)),
    ]
  } decode: { fields, _ throws(UnreadableRow) in
    let (id, requestor): (EnrolmentID, RequestorID) = (try fields.name(), try fields.name())
    let token: TokenHash = try fields.hash()
    let uses = try present(Int(exactly: fields.number()))
    let (created, expires) = (try fields.instant(), try fields.instant())
    return ClientInvitationRecord(
      id: id, requestor: requestor, token: token, uses: uses, created: created, expires: expires,
      used: try present(Int(exactly: fields.number())))
  }

  package static let grants = Table<GrantRecord>(
    "oauth_grant", signer: .rowPair,
    [
      .text("id"), .text("client"), .text("authentication"), .text("scope"), .text("thumbprint"),
      .number("created"), .number("idle"), .number("ends"), .text("public_key"), .number("generation"),
      .number("rotated"), .bytes("answer"),
    ]
  ) { grant, vault in
    [
      .text(grant.id.text), .text(grant.client.text), .text(grant.authentication.text), .text(grant.scope),
      .optional(grant.thumbprint), .integer(grant.created.milliseconds), .integer(grant.idle.wholeMilliseconds),
      .integer(grant.ends.milliseconds), .text(grant.rowKey.text), .integer(grant.generation),
      .integer(grant.rotated.milliseconds),
      vault.seal(grant.answer.bytes, "oauth_grant.answer", of: grant.id.text),
    ]
  } decode: { fields, vault throws(UnreadableRow) in
    let id: GrantID = try fields.name()
    return GrantRecord(
      id: id, client: try fields.name(), authentication: try fields.name(), scope: try fields.text(),
      thumbprint: try fields.optionalText(), created: try fields.instant(),
      idle: .milliseconds(try fields.number()), ends: try fields.instant(), rowKey: try fields.name(),
      generation: try fields.number(), rotated: try fields.instant(),
      answer: StoredSecret(try vault.open(fields.bytes(), "oauth_grant.answer", of: id.text)))
  }
}
