import Administration
import CommandKit
import RegentPairing

/// The commands of `regentctl code`.
enum CodeNoun {
  static let command = Command(
    "code", "codes shown on boxes that wait for a phone",
    details: """
      The service stores only hashes of codes, so lists show an id instead of the code. Commands accept the code on \
      the screen or the id.
      """,
    commands: [
      verb(
        "list", "list codes, pending and recent", inputs: [optionalRequestor],
        example: "code list"
      ) { call, admin in
        call.show(
          list: try await admin.codes().of(call[optionalRequestor], admin, \.requestor)
            .inOrder(of: \.generated), id: \.id.text,
          [
            Table.Column.id("ID"), Table.Column("REQUESTOR"), Table.Column("STATE", .name),
            Table.Column("DEVICE"), Table.Column("NETWORK"), Table.Column("VIEWER"),
            Table.Column("EXPIRES", .time),
          ]
        ) {
          [
            $0.id.text, $0.requestor.text, $0.state, $0.device ?? "-", $0.address ?? "-",
            shown($0.provider, $0.account), shown($0.expires),
          ]
        }
      },
      verb("show", "show a code", inputs: [code], example: "code show BCDF-GHJK") { call, admin in
        let code = try await admin.code(call[code])
        call.show(code.json, lines: lines(of: code))
      },
      verb(
        "withdraw", "cancel a code; a sign-in that used it stays valid", inputs: [code],
        example: "code withdraw BCDF-GHJK"
      ) { call, admin in
        let entry = try await admin.withdraw(call[code])
        call.show(entry.json, lines: ["code \(entry.id) \(entry.state)"])
      },
      verb(
        "approve", "approve a code for a viewer without a phone",
        details: """
          Signs the box in as that account at once, and writes your name into the audit log. First make sure that you \
          are talking to the person in front of the box: let them read the code out to you.
          """,
        inputs: [code, provider, account],
        example: "code approve BCDF-GHJK --provider cable --account grandma"
      ) { call, admin in
        let entry = try await admin.approve(
          call[code], for: CodeApproval(provider: call[provider], account: call[account]))
        call.show(
          entry.json,
          lines: [
            "code \(entry.id) \(entry.state) for \(shown(entry.provider, entry.account)) on "
              + box(of: entry)
          ])
      },
    ])

  private static let code = Input.argument(
    "CODE", .text("CODE"), "the code on the screen, or its id"
  ).completed(from: { admin throws(AdminError) in try await admin.codes() }) {
    Candidate($0.id.text, "\($0.requestor) \($0.state) \($0.device ?? "")")
  }
  private static let provider = Input.required(
    "provider", identifier("ID", Names.Provider.self), "the viewer's provider"
  ).completedByProviders()
  private static let account = Input.option(
    "account", identifier("NAME", Names.Account.self),
    "the viewer's account; leave it out for a temporary provider"
  ).completedByAccounts { $0[provider] }

  /// Describes the box of a code, for example `Living room TV (acme, 192.0.2.7)`.
  ///
  /// The device chose its own name. The requestor and the address help to identify it.
  private static func box(of code: CodeEntry) -> String {
    let facts = [code.requestor.text, code.address].compactMap(\.self).joined(separator: ", ")
    return "\(code.device ?? "the box") (\(facts))"
  }

  private static func lines(of code: CodeEntry) -> [String] {
    details([
      "id": code.id.text,
      "requestor": code.requestor.text,
      "state": code.state,
      "device": code.device,
      "device id": code.deviceID,
      "network": code.address,
      "preselected": code.preselected?.text,
      "viewer": code.provider == nil ? nil : shown(code.provider, code.account),
      "created": shown(code.generated),
      "expires": shown(code.expires),
    ]) + DeviceNoun.report(of: code.app)
  }
}
