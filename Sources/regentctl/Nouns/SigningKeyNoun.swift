import Administration
import CommandKit
import RegentPairing

/// The commands of `regentctl signing-key`.
enum SigningKeyNoun {
  static let command = Command(
    "signing-key", "keys that sign media tokens and OAuth tokens",
    commands: [
      verb("list", "list signing keys, oldest first", example: "signing-key list") {
        call, admin in
        call.show(
          list: try await admin.signingKeys(), id: \.id.text,
          [
            Table.Column.id("ID"), Table.Column("STATE", .name),
            Table.Column("CREATED", .time), Table.Column("SIGNS FROM", .time),
            Table.Column("NEEDED UNTIL", .time), Table.Column("PURPOSE"),
          ]
        ) {
          [
            $0.id.text, $0.state.rawValue, shown($0.created), shown($0.signsFrom),
            shown($0.neededUntil), purpose(of: $0),
          ]
        }
      },
      verb("show", "show a signing key", inputs: [id], example: "signing-key show 2026-11-20-a") { call, admin in
        let key = try await admin.signingKey(call[id])
        call.show(
          key.json,
          lines: details([
            "id": key.id.text, "purpose": purpose(of: key), "state": key.state.rawValue, "created": shown(key.created),
            "signs from": shown(key.signsFrom), "needed until": key.neededUntil.map(shown),
          ]))
      },
      verb(
        "rotate", "create a new signing key that replaces the current one",
        details: """
          The service publishes the new key at once and signs with it when the key sets that verifiers have cached are \
          expired. The old key stays published until the last token that it signed has expired. Boxes are not affected.
          """,
        inputs: [wanted, algorithm], example: "signing-key rotate --purpose oauth"
      ) { call, admin in
        let key = try await admin.rotateSigningKey(call[wanted], algorithm: call[algorithm])
        call.show(key.json, lines: ["signing key \(key.id) signs from \(shown(key.signsFrom))"])
      },
      verb(
        "retire", "stop signing with a key; it stays published until its tokens expire", inputs: [id, yes],
        example: "signing-key retire 2026-11-20-a --yes"
      ) { call, admin in
        let found = try await admin.signingKey(call[id])
        try Prompt.confirm("retire signing key \(found.id)", unless: yes, call)
        let key = try await admin.retireSigningKey(found.id)
        call.show(
          key.json, lines: ["signing key \(key.id) stays published until \(shown(key.neededUntil))"]
        )
      },
    ])

  private static func purpose(of key: SigningKeyEntry) -> String {
    guard key.purpose == .oauth else { return SigningPurpose.media.rawValue }
    return "oauth \(key.algorithm ?? "")"
  }

  private static let wanted = Input.option(
    "purpose", ValueKind<SigningPurpose>.cases, default: .media, "the tokens that the key signs")
  private static let algorithm = Input.option(
    "algorithm", .text("NAME"), "RS256, ES256 or EdDSA; media tokens use RS256 (default: RS256)")
  private static let id = Input.argument(
    "ID", identifier("ID", Names.SigningKey.self), "the signing key's id"
  ).completed(from: { admin throws(AdminError) in try await admin.signingKeys() }) {
    Candidate($0.id.text, $0.state.rawValue)
  }
}

/// The commands of `regentctl master-key`.
enum MasterKeyNoun {
  static let command = Command(
    "master-key", "the key that encrypts all other keys",
    commands: [
      verb(
        "change", "create a new master key and encrypt the data keys with it",
        details: """
          The service writes the new key to its master key file and keeps the old one beside it as \
          master-key.until-TIME. Boxes stay signed in. Older backups can only be restored with the old key: store it \
          elsewhere, and delete it together with the last of those backups.
          """,
        inputs: [yes], example: "master-key change --yes"
      ) { call, admin in
        try Prompt.confirm(
          "change the master key; the old one is kept beside it for older backups", unless: yes,
          call)
        let finding = try await admin.changeMasterKey()
        call.show(finding.json, lines: [finding.detail])
      }
    ])
}
