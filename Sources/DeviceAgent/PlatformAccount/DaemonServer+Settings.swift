import AccessEnabler
import CommandKit
import HTTPServer
import RegentJSON
import RegentPlatform

// The routes with which users decide about apps: for root, the daemon's own user, and users with the permission `sso`.

extension DaemonServer {
  func mountSettings(_ host: PlatformHost, _ apps: AppBook, _ routes: inout Routes) {
    routes.post("/v1/sso/status") { request, _ in
      reply(request, .sso, isLogged: false) { () throws(CommandError) in
        // The operator may have enabled the viewer's account again, so the box asks the service first.
        await host.lookAgain(within: .seconds(2))
        return try await Self.status(host, apps)
      }
    }
    routes.post("/v1/sso/decide") { request, _ in
      guard let body = body(request), let app = body["app"]?.string,
        let permission = body["permission"]?.string.flatMap(PlatformPermission.init),
        // If the requestor is not a text, the request is refused. It must not be taken for a request about all
        // requestors.
        body["requestor"].map({ $0.string != nil }) ?? true
      else { return malformed }
      return reply(request, .sso, detail: "\(permission.rawValue) \(harmless(app))") { () throws(CommandError) in
        let known = try Self.requestors(of: app, body["requestor"]?.string, apps, await host.decisions)
        for requestor in known { try await host.decide(permission, AppRequestor(app: app, requestor: requestor)) }
        return [
          "app": .string(app), "permission": .string(permission.rawValue),
          "requestors": .array(known.map { .string($0) }),
        ]
      }
    }
    routes.post("/v1/sso/prompts") { request, _ in
      guard let body = body(request) else { return malformed }
      let last = body["after"]?.int64.flatMap { Int(exactly: $0) } ?? 0
      let wait = max(0, min(55_000, body["wait"]?.int64 ?? 0))
      return reply(request, .sso, isLogged: false) { () throws(CommandError) in
        guard let open = await host.prompt(after: last, wait: .milliseconds(wait)) else { return [:] }
        return [
          "id": .integer(Int64(open.id)), "app": .string(open.who.app), "requestor": .string(open.who.requestor),
          "question": .string(open.kind.rawValue),
        ]
      }
    }
    routes.post("/v1/sso/dismiss") { request, _ in
      guard let id = body(request)?["id"]?.int64.flatMap({ Int(exactly: $0) }) else { return malformed }
      return reply(request, .sso, isLogged: false) { () throws(CommandError) in
        await host.dismiss(id)
        return [:]
      }
    }
    routes.post("/v1/sso/sign-out") { request, _ in
      reply(request, .sso, detail: "sign-out") { () throws(CommandError) in
        let granted = await host.decisions.filter { $0.value == .granted }.keys.sorted()
        let end = try await host.signOut()
        let apps = end == .wasNotSignedIn ? [] : granted
        var answer = end.members
        answer["apps"] = .array(apps.map { ["app": .string($0.app), "requestor": .string($0.requestor)] })
        return .object(answer)
      }
    }
  }

  /// The response with the box's sign-in, every app that a line names or that a viewer decided about, and the users
  /// that were refused.
  private static func status(_ host: PlatformHost, _ apps: AppBook) async throws(CommandError) -> JSONValue {
    let account = await host.account()
    let decisions = await host.decisions
    var all = Set(decisions.keys)
    for rule in apps.rules {
      for requestor in rule.requestors { all.insert(AppRequestor(app: rule.name, requestor: requestor)) }
    }
    var entries: [JSONValue] = []
    for who in all.sorted() {
      var entry: JSONObject = [
        "app": .string(who.app), "requestor": .string(who.requestor),
        "permission": .string((decisions[who] ?? .undetermined).rawValue),
        "named": .bool(apps.rules.contains { $0.name == who.app && $0.requestors.contains(who.requestor) }),
      ]
      if let refusal = await host.refusal(of: who, at: account.signIn?.provider) { entry["refusal"] = .string(refusal) }
      entries.append(.object(entry))
    }
    var object: JSONObject = [
      "signedIn": .bool(account.signIn != nil),
      "apps": .array(entries),
      "refused": .array(
        await host.refused.map { refusal in
          [
            "user": .integer(Int64(refusal.user)), "requestor": .string(refusal.requestor),
            "count": .integer(Int64(refusal.count)),
          ]
        }),
    ]
    if let failure = account.failure { object["failure"] = .string(failure) }
    if let refusal = await host.refusal { object["refusal"] = .string(refusal) }
    if let lost = await host.lostDecisions { object["decisionsLost"] = .string(lost) }
    if let signIn = account.signIn {
      object["provider"] = .string(signIn.provider)
      object["providerName"] = .string(signIn.providerName)
      object["expires"] = .integer(signIn.expires)
    }
    return .object(object)
  }

  /// The requestors to which a decision applies: the given one, or all that the app has.
  private static func requestors(
    of app: String, _ named: String?, _ apps: AppBook, _ decisions: [AppRequestor: PlatformPermission]
  ) throws(CommandError) -> [String] {
    var known = Set(apps.rules.filter { $0.name == app }.flatMap(\.requestors))
    // A decision about an app can still be reset after the app's line was deleted.
    known.formUnion(decisions.keys.filter { $0.app == app }.map(\.requestor))
    if let named { known.formIntersection([named]) }
    guard !known.isEmpty else {
      throw CommandError(
        "there is no app \(harmless(app))" + (named.map { " for \(harmless($0))" } ?? ""),
        hint: "list the apps: regent sso permissions; to add one, add \"app = \(harmless(app)) …\" to "
          + "/etc/regent/agent.conf",
        code: "unknown-app", exit: .usage)
    }
    return known.sorted()
  }
}
