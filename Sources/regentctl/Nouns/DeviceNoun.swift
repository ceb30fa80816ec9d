import Administration
import CommandKit
import RegentJSON
import RegentPairing
import Synchronization

/// The commands of `regentctl device`.
enum DeviceNoun {
  static let command = Command(
    "device", "boxes that are signed in",
    details: """
      Commands accept the short id that the list shows, or the full device id. In "device list acme", acme is a \
      requestor; --since selects the boxes that signed in within this time.
      """,
    commands: [
      verb(
        "list", "list boxes that are signed in",
        details: """
          The state "refused" means that the box has a sign-in, and the service refuses its requests: the account is \
          disabled or removed, the key pair revoked, or the integration off. "device show" says why and since when.

          --limit prints one page in the order of the sign-ins' ids, and the option that prints the next page. For \
          very long lists use --json --lines: it prints one JSON document per line while it reads.
          """,
        inputs: [optionalRequestor] + DeviceFilter.inputs + [limit, after, asLines],
        rules: [.atMostOne([optionalRequestor, DeviceFilter.requestor])],
        example: "device list acme --since 24h --limit 100"
      ) { call, admin in try await list(call, admin) },
      verb("show", "show a box", inputs: [id], example: "device show 3f9a0c21d4e5b687") {
        call, admin in
        let signIns = try await admin.device(call[id])
        call.show(
          .array(signIns.map(\.boxJSON)),
          lines: signIns.map(lines).joined(separator: [""]).map(\.self))
      },
      verb(
        "rename", "set the name of a box that lists and the phone show", inputs: [id, name],
        example: "device rename 3f9a0c21d4e5b687 \"Living room\""
      ) { call, admin in
        let name = call[name].isEmpty ? nil : call[name]
        try await admin.renameDevice(call[id], name)
        var document: JSONObject = ["device": .string(call[id])]
        document["name"] = name.map(JSONValue.string)
        call.say("device \(call[id]) \(name.map { "is called \($0)" } ?? "has no name")", document)
      },
      verb(
        "sign-out", "sign out one box, or all boxes of a requestor, provider, account or time",
        details: """
          Without ID it ends every sign-in that matches all the options that you give; give at least one. Use \
          --dry-run first to see which. If the command is interrupted, run it again: it continues with the rest.
          """,
        inputs: [optionalID] + DeviceFilter.inputs + [dryRun, yes],
        example: "device sign-out --requestor acme --before 365d --dry-run"
      ) { call, admin in try await signOut(call, admin) },
    ])

  private static let limit = Input.option(
    "limit", .integer(1...1_000_000), "the largest number of boxes to print")
  private static let after = Input.option(
    "after", identifier("ID", Names.Authentication.self), "continue the list after this sign-in")
  private static let asLines = Input.flag("lines", "with --json: print one document per line")
  private static let dryRun = Input.flag("dry-run", "print what would be signed out, and change nothing")
  private static let optionalID = Input.optionalArgument(
    "ID", .text("ID"), "the box's short id or full device id"
  ).completed(from: { admin throws(AdminError) in try await firstSignIns(admin) }) {
    Candidate($0.device, $0.givenName ?? $0.name ?? "")
  }
  private static let id = Input.argument(
    "ID", .text("ID"), "the box's short id or full device id"
  ).completed(from: { admin throws(AdminError) in try await firstSignIns(admin) }) {
    Candidate($0.device, $0.givenName ?? $0.name ?? "")
  }
  private static let name = Input.argument(
    "NAME", ValueKind("NAME", show: { $0 }) { text throws(ValueProblem) in text },
    "the new name; \"\" removes the name")

  private static func list(_ call: Invocation, _ admin: AdminClient) async throws {
    let filter = DeviceFilter.chosen(call, requestor: call[optionalRequestor])
    if call[asLines], !call.wantsJSON {
      throw CommandError.usage("--lines works only with --json", hint: "add --json")
    }
    var all: [SignInEntry] = []
    let next = try await admin.signIns(filter, after: call[after], limit: call[limit] ?? .max) { page in
      if call[asLines] {
        for signIn in page { call.console.print(json: signIn.boxJSON) }
      } else {
        all += page
      }
    }
    if call[asLines] { return }
    call.show(
      list: call[limit] == nil ? all.inOrder(of: \.issued) : all, json: \.boxJSON,
      [
        Table.Column.id("ID"), Table.Column("NAME"), Table.Column("REQUESTOR"),
        Table.Column("VIEWER"), Table.Column("STATE"), Table.Column("LAST USED", .time),
        Table.Column("NETWORK"),
      ]
    ) {
      [
        $0.device, $0.givenName ?? $0.name ?? "-", $0.requestor.text,
        shown($0.provider, $0.account), state(of: $0),
        shown($0.lastUsed ?? $0.issued), $0.address ?? "-",
      ]
    }
    if let next, !call.wantsJSON { call.console.note("there may be more; add --after \(next)") }
  }

  private static func signOut(_ call: Invocation, _ admin: AdminClient) async throws {
    let filter = DeviceFilter.chosen(call)
    guard let id = call[optionalID] else {
      guard filter.isNarrow else {
        throw CommandError.usage(
          "ID is missing",
          hint: "run regentctl device sign-out ID, or select boxes with --requestor, --provider, "
            + "--account, --visitor, --since, --before")
      }
      return try await DeviceSignOut.perform(
        filter, isDry: call[dryRun], unless: yes, call, admin)
    }
    guard !filter.isNarrow else {
      throw CommandError.usage(
        "ID cannot be combined with options that select boxes", hint: "give the ID or the options")
    }
    let signIns = try await admin.device(id)
    // The id of the box that was confirmed is used. By now the typed prefix may match another box.
    let device = signIns.first?.device ?? id
    let what = signIns.first.map(title) ?? device
    let apps = PlatformNoun.ending(with: signIns, "; with it: ")
    if call[dryRun] {
      let line = "would sign out \(what): \(counted(signIns.count, "sign-in"))"
      return call.show(CountDocument(signIns.count).json, lines: [line + apps])
    }
    try Prompt.confirm("sign out \(what)\(PlatformNoun.ending(with: signIns, ", and with it "))", unless: yes, call)
    let ended = try await admin.signOutDevice(device)
    let line = "device \(device): \(counted(ended.count, "sign-in")) ended"
    call.show(ended.json, lines: [line + apps])
  }

  /// All sign-ins, the newest last.
  static func allSignIns(
    _ call: Invocation, _ admin: AdminClient, of requestor: RequestorID? = nil
  ) async throws(AdminError) -> [SignInEntry] {
    var all: [SignInEntry] = []
    try await admin.signIns(of: requestor) { all += $0 }
    return all.inOrder(of: \.issued)
  }

  private static func firstSignIns(_ admin: AdminClient) async throws(AdminError) -> [SignInEntry] {
    var all: [SignInEntry] = []
    try await admin.signIns { all += $0 }
    return all
  }

  static func state(of signIn: SignInEntry) -> String { signIn.refusal == nil ? "signed in" : "refused" }

  /// The name and the id of a box, such as `Living room (3f9a0c21d4e5b687)`.
  ///
  /// Names are not unique.
  static func title(of signIn: SignInEntry) -> String {
    (signIn.givenName ?? signIn.name).map { "\($0) (\(signIn.device))" } ?? signIn.device
  }

  static func lines(of signIn: SignInEntry) -> [String] {
    details([
      "id": signIn.device,
      "name": signIn.givenName ?? signIn.name,
      "state": signIn.refusal.map { refusal in
        "cannot play\(signIn.refusedSince.map { " since \(shown($0))" } ?? "") because \(refusal)"
      } ?? "signed in",
      "device id": signIn.deviceID,
      "requestor": signIn.requestor.text,
      "viewer": shown(signIn.provider, signIn.account),
      "household": signIn.household?.text,
      "sign-in": "\(signIn.id) (\(signIn.source))",
      "since": shown(signIn.issued),
      "until": shown(signIn.expires),
      "last used": signIn.lastUsed.map(shown),
      "network": signIn.address,
      "user agent": signIn.userAgent,
    ]) + report(of: signIn.app)
      + (signIn.apps ?? []).flatMap {
        details(["its app": "\($0.name) for \($0.requestor), since \(shown($0.issued))"])
      }
      + (signIn.findings ?? []).filter { $0.check != "sign-in" }.flatMap(UpkeepVerbs.lines)
  }

  /// The lines of `device show` about the data that the app sends.
  static func report(of app: AppReport?) -> [String] {
    details([
      "visitor": app?.visitorID, "profile": app?.profile, "data": app?.data, "options": app?.options,
    ])
  }
}

/// The commands of `regentctl session`.
enum SessionNoun {
  static let command = Command(
    "session", "phone browsers that are signed in",
    commands: [
      verb(
        "list", "list phone browsers that are signed in", inputs: [account, provider],
        example: "session list anna"
      ) { call, admin in
        call.show(
          list: try await sessions(call, admin).inOrder(of: \.started), id: \.id.text,
          [
            Table.Column.id("ID"), Table.Column("VIEWER"),
            Table.Column("SINCE", .time), Table.Column("LAST USED", .time),
            Table.Column("NETWORK"), Table.Column("BROWSER"),
          ]
        ) {
          [
            $0.id.text, shown($0.provider, $0.account), shown($0.started), shown($0.lastUsed),
            $0.address ?? "-", $0.userAgent.map(BrowserName.text) ?? "-",
          ]
        }
      },
      verb("show", "show a browser", inputs: [id], example: "session show 4f2a9c01") { call, admin in
        let session = try await admin.session(call[id])
        call.show(
          session.json,
          lines: details([
            "id": session.id.text, "viewer": shown(session.provider, session.account),
            "since": shown(session.started), "last used": shown(session.lastUsed),
            "until": shown(session.expires), "network": session.address,
            "browser": session.userAgent.map(BrowserName.text), "user agent": session.userAgent,
          ]))
      },
      verb("end", "sign a browser out", inputs: [id], example: "session end 4f2a9c") {
        call, admin in
        let session = try await admin.endSession(call[id])
        call.show(session.json, lines: ["session \(session.id) ended"])
      },
    ])

  private static func sessions(
    _ call: Invocation, _ admin: AdminClient
  ) async throws(AdminError) -> [SessionEntry] {
    if let account = call[account] {
      return try await admin.sessions(of: account, at: call[provider])
    }
    let all = try await admin.sessions()
    guard let provider = call[provider] else { return all }
    _ = try await admin.provider(provider)
    return all.filter { $0.provider == provider }
  }

  private static let account = Input.optionalArgument(
    "ACCOUNT", identifier("NAME", Names.Account.self), "the account's name; all accounts if left out")
  private static let provider = Input.option(
    "provider", identifier("ID", Names.Provider.self), "list only browsers at this provider"
  ).completedByProviders()
  private static let id = Input.argument(
    "ID", identifier("ID", Names.Session.self), "the session's id"
  ).completed(from: { admin throws(AdminError) in try await admin.sessions() }) {
    Candidate($0.id.text, shown($0.provider, $0.account))
  }
}
