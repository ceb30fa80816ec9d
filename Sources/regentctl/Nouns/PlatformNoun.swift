import Administration
import CommandKit
import RegentPairing

/// The commands of `regentctl platform`.
enum PlatformNoun {
  static let command = Command(
    "platform", "TV provider accounts of boxes, and the apps that use them",
    details: """
      A box has an account after it signed in at a requestor with --platform on. Apps that the viewer allows to use \
      the account are signed in without a code, and signed out with it.
      """,
    commands: [
      verb("list", "list boxes with an account", example: "platform list") { call, admin in
        call.show(
          list: try await admin.boxes(), id: \.id.text,
          [
            Table.Column.id("ID"), Table.Column("NAME"), Table.Column("VIEWER"), Table.Column("APPS"),
            Table.Column("UNTIL", .time),
          ]
        ) {
          [$0.id.text, $0.name ?? "-", shown($0.provider, $0.account), apps(of: $0), shown($0.expires)]
        }
      },
      verb("show", "show a box, its apps and the viewer's decisions", inputs: [id], example: "platform show 4f2a9c01") {
        call, admin in
        let box = try await admin.box(call[id])
        call.show(box.json, lines: lines(of: box))
      },
      verb(
        "sign-out", "sign out a box's account and the apps that use it", inputs: [id, yes],
        example: "platform sign-out 4f2a9c01 --yes"
      ) { call, admin in
        let found = try await admin.box(call[id])
        try Prompt.confirm("sign out box \(found.id), and with it \(apps(of: found))", unless: yes, call)
        let box = try await admin.signOutBox(found.id)
        call.show(box.json, lines: ["box \(box.id) is signed out; with it: \(apps(of: box))"])
      },
    ])

  private static let id = Input.argument(
    "BOX", identifier("BOX", Names.Box.self), "the box's id"
  ).completed(from: { admin throws(AdminError) in try await admin.boxes() }) {
    Candidate($0.id.text, $0.name ?? "")
  }

  private static func apps(of box: BoxEntry) -> String {
    box.apps.isEmpty ? "no app" : titles(of: box.apps)
  }

  private static func titles(of apps: [BoxEntry.App]) -> String {
    var titles: [String] = []
    // One app may be signed in on several devices.
    for app in apps.map({ "\($0.name) (\($0.requestor))" }) where !titles.contains(app) { titles.append(app) }
    let more = titles.count > most ? " and \(titles.count - most) more" : ""
    return titles.prefix(most).joined(separator: ", ") + more
  }

  /// The maximum number of apps that one sentence names.
  private static let most = 20

  /// The end of a sentence such as `, and with it kodi (acme)`: it names the apps that are signed out together with
  /// these sign-ins; empty if there are none.
  static func ending(with signIns: [SignInEntry], _ joint: String) -> String {
    ending(signIns.flatMap { $0.apps ?? [] }, joint)
  }

  static func ending(_ apps: [BoxEntry.App], _ joint: String) -> String {
    apps.isEmpty ? "" : "\(joint)\(titles(of: apps))"
  }

  private static func lines(of box: BoxEntry) -> [String] {
    details([
      "id": box.id.text, "name": box.name, "device": box.device, "requestor": box.requestor.text,
      "viewer": shown(box.provider, box.account), "since": shown(box.enrolled), "until": shown(box.expires),
    ])
      + box.apps.flatMap { details(["app": "\($0.name) for \($0.requestor), since \(shown($0.issued))"]) }
      + box.permissions.flatMap {
        details(["decided": "\($0.app) for \($0.requestor): \($0.permission), \(shown($0.decided))"])
      }
  }
}
