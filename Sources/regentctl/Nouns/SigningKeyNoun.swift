import Administration
import CommandKit
import RegentPairing

/// `regentctl signing-key`.
enum SigningKeyNoun {
  static let command = Command(
    "signing-key", "keys that sign media tokens, and those that sign OAuth's",
    commands: [
      verb("list", "list the signing keys, oldest first", example: "signing-key list") {
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
        "rotate", "make a new signing key",
        details: """
          The new key is published at once and signs as soon as no verifier can have an older key set; until then, and \
          for the life of the last token they signed, the others stay published. No device notices.
          """,
        inputs: [wanted, algorithm], example: "signing-key rotate --purpose oauth"
      ) { call, admin in
        let key = try await admin.rotateSigningKey(call[wanted], algorithm: call[algorithm])
        call.show(key.json, lines: ["signing key \(key.id) signs from \(shown(key.signsFrom))"])
      },
      verb(
        "retire", "have a key sign no more", inputs: [id, yes],
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
    "purpose", ValueKind<SigningPurpose>.cases, default: .media, "which tokens it signs")
  private static let algorithm = Input.option(
    "algorithm", .text("NAME"), "RS256 (the usual), ES256 or EdDSA; those of media tokens are RS256")
  private static let id = Input.argument(
    "ID", identifier("ID", Names.SigningKey.self), "the signing key's id"
  ).completed(from: { admin throws(AdminError) in try await admin.signingKeys() }) {
    Candidate($0.id.text, $0.state.rawValue)
  }
}

/// `regentctl master-key`.
enum MasterKeyNoun {
  static let command = Command(
    "master-key", "the key that seals all others",
    commands: [
      verb(
        "change", "seal the data keys with a new master key",
        details: """
          The service writes the new key to its master key file and keeps the old one beside it, as \
          master-key.until-TIME. Devices stay signed in. Backups from before need the old key: move it to where your \
          other copy is, and remove it with the last of them.
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
