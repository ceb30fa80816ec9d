import CommandKit
import RegentJSON
import RegentPlatform

/// `regent sso`: manages the box's TV provider account and the apps that may use it.
enum SsoCommand {
  private static let app = Input.argument("APP", .text, "the app's name in its line \"app = APP …\" of agent.conf")
  private static let requestor = Input.option(
    "for", .text("ID"), "one requestor of the app (default: all of them)")

  static func command(_ context: AgentContext) -> Command {
    Command(
      "sso", "the box's TV provider account and the apps that may use it",
      details: """
        One sign-in for all apps of the box. Apps with a line "app = …" in agent.conf may use it, if the viewer \
        allows; they then need no code. The service's operator must set --platform on for the box's requestor.
        """,
      commands: [
        verb("status", "show the account and the apps that may use it", context) { call, daemon in
          let status = try await daemon.sso("status")
          call.show(status, lines: statusLines(status))
        },
        signIn(context),
        verb("sign-out", "sign the box out, with every app that uses its account", context) {
          call, daemon in
          let answer = try await daemon.sso("sign-out")
          call.show(answer, lines: signOutLines(answer))
        },
        verb("permissions", "list the apps and the viewer's decisions", context) { call, daemon in
          let apps = try await daemon.sso("status")["apps"] ?? .array([])
          var table = Table([.init("APP", .name), .init("REQUESTOR", .name), .init("PERMISSION")])
          for app in apps.array ?? [] {
            table.add([
              app["app"]?.string ?? "", app["requestor"]?.string ?? "",
              (app["permission"]?.string ?? "") + (app["named"]?.bool == false ? " (not in agent.conf)" : ""),
            ])
          }
          call.show(apps, as: table)
        },
        decision("grant", "granted", "allow an app to use the box's account", context),
        decision("deny", "denied", "forbid an app to use the box's account; it cannot ask again", context),
        decision("reset", "undetermined", "forget the decision about an app, so that it can ask again", context),
        prompts(context),
      ])
  }

  private typealias Work = @Sendable (Invocation, DaemonClient) async throws -> Void

  private static func verb(
    _ name: String, _ summary: String, _ context: AgentContext, _ inputs: [any InputDeclaration] = [],
    example: String? = nil, _ work: @escaping Work
  ) -> Command {
    Command(name, summary, inputs: inputs, example: example ?? "regent sso \(name)") { call async throws in
      context.hearsNoSignals()
      try await work(call, try await daemon(AgentSettings(call)))
    }
  }

  private static func daemon(_ settings: AgentSettings) async throws(CommandError) -> DaemonClient {
    if let daemon = DaemonClient.ofThisBox(settings) { return daemon }
    guard case .found(let daemon) = try await DaemonClient.find(settings) else {
      throw CommandError(
        "the daemon is not running, and only the daemon has the account for apps",
        hint: "start it: systemctl enable --now regent.socket, or regent daemon", code: "no-daemon")
    }
    return daemon
  }

  private static func signIn(_ context: AgentContext) -> Command {
    PairCommand.command(
      context, named: "sign-in", "sign the box in, for all apps that may use its account", example: "regent sso sign-in"
    )
  }

  private static func decision(
    _ name: String, _ permission: String, _ summary: String, _ context: AgentContext
  ) -> Command {
    verb(name, summary, context, [app, requestor], example: "regent sso \(name) kodi") { call, daemon in
      var body: JSONObject = ["app": .string(call[app]), "permission": .string(permission)]
      if let one = call[requestor] { body["requestor"] = .string(one) }
      let answer = try await daemon.sso("decide", body)
      let names = (answer["requestors"]?.array ?? []).compactMap(\.string).joined(separator: ", ")
      call.show(answer, lines: ["\(call[app]): \(permission) for \(names)"])
    }
  }

  /// Shows the viewer the questions of apps: as JSON lines for a launcher, or as questions on a terminal.
  private static func prompts(_ context: AgentContext) -> Command {
    verb("prompts", "show the apps' questions to the viewer and read the answers", context) { call, daemon in
      var last: Int64 = 0
      while true {
        let begun = Clocks.bootNanoseconds()
        let prompt = try await daemon.sso("prompts", ["after": .integer(last), "wait": 50_000])
        guard let id = prompt["id"]?.int64, let app = prompt["app"]?.string,
          let requestor = prompt["requestor"]?.string
        else {
          // If the daemon already holds too many requests, it answers at once. The pause avoids a busy loop.
          if Clocks.bootNanoseconds(since: begun) < 1_000_000_000 { try await Task.sleep(for: .seconds(1)) }
          continue
        }
        last = id
        guard !call.wantsJSON else {
          let event: JSONValue = [
            "event": "prompt", "id": .integer(id), "app": .string(app), "requestor": .string(requestor),
            "question": prompt["question"] ?? "access",
          ]
          call.console.print(event.description)
          guard call.console.flush() else { return }
          continue
        }
        let isSignOut = prompt["question"]?.string == "sign-out"
        switch try isSignOut ? askToSignOut(app, call) : askForAccess(app, requestor, call) {
        case .decide(let permission):
          _ = try await daemon.sso(
            "decide", ["app": .string(app), "requestor": .string(requestor), "permission": .string(permission)])
        case .signOut: _ = try await daemon.sso("sign-out")
        case .dismiss: _ = try await daemon.sso("dismiss", ["id": .integer(id)])
        }
      }
    }
  }

  /// The viewer's answer to an app's question.
  private enum Answer {
    case decide(String)
    case signOut, dismiss
  }

  private static func askForAccess(_ app: String, _ requestor: String, _ call: Invocation) throws -> Answer {
    try ask(
      "may \(app) use this box's TV provider account for \(requestor)? yes, no or later", usual: "later",
      orGive: "regent sso grant \(app)",
      [
        "yes": .decide("granted"), "y": .decide("granted"), "no": .decide("denied"), "n": .decide("denied"),
        "later": .dismiss,
      ], call)
  }

  private static func askToSignOut(_ app: String, _ call: Invocation) throws -> Answer {
    try ask(
      "\(app) asks to sign this box and all its apps out of the TV provider: yes, no, or deny (only \(app) loses the "
        + "account)", usual: "no", orGive: "regent sso sign-out",
      ["yes": .signOut, "y": .signOut, "no": .dismiss, "n": .dismiss, "deny": .decide("denied")], call)
  }

  /// Asks the viewer, and repeats the question until the answer is one of the given words.
  private static func ask(
    _ question: String, usual: String, orGive option: String, _ answers: [String: Answer], _ call: Invocation
  ) throws -> Answer {
    while true {
      let words = try Prompt.line(question, usual: usual, orGive: option, call).lowercased()
      if let answer = answers[words] { return answer }
      call.console.note("type one of these words")
    }
  }

  // MARK: Lines of the output

  private static func statusLines(_ status: JSONValue) -> [String] {
    var lines: [String] = []
    if let failure = status["failure"]?.string {
      lines.append("the box's account cannot be used: \(failure)")
    } else if let provider = status["providerName"]?.string {
      lines.append("signed in with \(provider)")
    } else {
      lines.append("not signed in; to sign in, run regent sso sign-in")
    }
    if let refusal = status["refusal"]?.string { lines.append("the service does not allow apps to use it: \(refusal)") }
    let apps = status["apps"]?.array ?? []
    let granted = apps.filter { $0["permission"]?.string == "granted" }.count
    lines.append(apps.isEmpty ? "there are no apps in agent.conf" : "\(granted) of \(apps.count) apps may use it")
    for refusal in status["refused"]?.array ?? [] {
      let user = UInt32(exactly: refusal["user"]?.int64 ?? 0).map { Accounts.title(of: $0) } ?? ""
      lines.append("user \(user) asked for \(refusal["requestor"]?.string ?? ""), but is not an app in agent.conf")
    }
    return lines
  }

  private static func signOutLines(_ answer: JSONValue) -> [String] {
    guard answer["wasSignedIn"]?.bool == true else { return ["the box was not signed in"] }
    let apps = (answer["apps"]?.array ?? []).compactMap { one in
      one["app"]?.string.map { "\($0) for \(one["requestor"]?.string ?? "")" }
    }
    return ["signed out"] + (apps.isEmpty ? [] : ["these apps are signed out, too: \(apps.joined(separator: ", "))"])
  }
}
