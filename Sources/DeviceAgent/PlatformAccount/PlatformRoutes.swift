import AccessEnabler
import CommandKit
import HTTPServer
import RegentEncodings
import RegentHTTPCodec
import RegentJSON
import RegentPairingWire
import RegentPlatform

/// The daemon's routes for apps.
///
/// `docs/socket.md` describes them, and `docs/box-account.md` says which programs are apps.
struct PlatformRoutes: Sendable {
  let host: PlatformHost
  let apps: AppBook
  let boxSignIn: BoxSignIn
  /// The name of the app's own socket, or `nil` for the socket that all programs share.
  let socket: String?
  let lines: CappedLines

  /// The limits of a request body, which must be an object of texts.
  private static let limits = JSONLimits(depth: 3, bytes: 65_536)
  private static let longestWait: Int64 = 55

  func mount(_ routes: inout Routes) {
    routes.post("/v1/platform/status") { request, _ in
      reply(request) { who, _ in .ok(document(await host.standing(of: who))) }
    }
    routes.post("/v1/platform/access") { request, _ in
      reply(request) { who, body in
        var asked: PlatformHost.Asked?
        if let prompt = body["prompt"] {
          guard let prompt = prompt.bool else { return .malformed }
          if prompt { asked = await host.ask(who, wait: .seconds(wait(request))) }
        }
        // If the viewer has decided already, there is no question to write into the log.
        if let asked, asked != .decided {
          report("asks the viewer about app \(who.app) for requestor \(who.requestor): \(asked.rawValue)", who)
        }
        var document = document(await host.standing(of: who))
        if let asked { document["prompt"] = .string(asked.rawValue) }
        return .ok(document)
      }
    }
    routes.post("/v1/platform/sign-out") { request, _ in
      reply(request) { who, _ throws(CommandError) in
        let asked = try await host.askToSignOut(who, wait: .seconds(wait(request)))
        report(
          "asks the viewer whether app \(who.app) for requestor \(who.requestor) may sign the box out: \(asked.rawValue)",
          who)
        var document = document(await host.standing(of: who))
        document["prompt"] = .string(asked.rawValue)
        return .ok(document)
      }
    }
    routes.post("/v1/platform/account") { request, _ in reply(request, account) }
    routes.post("/v1/platform/picker") { request, _ in reply(request, picker) }
  }

  // MARK: Handlers

  private func account(_ who: AppRequestor, _ body: JSONObject) async throws(CommandError) -> Outcome {
    guard let text = body["profileRequest"]?.string else {
      try await host.check(who)
      return .ok(document(await host.standing(of: who)))
    }
    guard let request = try? Base64.decode(text), let provider = body["provider"]?.string else { return .malformed }
    let given = try await host.assertion(to: request, provider: provider, for: who)
    report("signs an assertion for app \(who.app): requestor \(who.requestor) at provider \(provider)", who)
    return .ok([
      "version": 1, "provider": .string(given.signIn.provider), "expires": .integer(given.signIn.expires),
      "assertion": .string(given.assertion),
    ])
  }

  private func picker(_ who: AppRequestor, _ body: JSONObject) async throws(CommandError) -> Outcome {
    try await host.check(who)
    if let id = body["signIn"]?.string {
      if body["leave"]?.bool == true {
        await boxSignIn.leave(id, who)
        return .ok([:])
      }
      guard let last = body["after"]?.int64.flatMap({ Int(exactly: $0) }), last >= 0 else { return .malformed }
      let wait = max(0, min(Self.longestWait * 1_000, body["wait"]?.int64 ?? 25_000))
      return .ok(try await boxSignIn.news(of: id, after: last, wait: .milliseconds(wait), who).document)
    }
    let providers = try await host.picker()
    guard let provider = body["provider"]?.string else {
      return .ok(["version": 1, "title": "TV provider", "providers": .array(providers.map(\.document))])
    }
    guard providers.contains(where: { $0.id.utf8.elementsEqual(provider.utf8) }) else {
      throw CommandError(
        "the service offers this box no provider \(CleanText.line(provider, longest: 64) ?? "")",
        hint: "the app must use an id from the list of providers", code: "unknown-provider")
    }
    if await host.standing(of: who).signIn != nil { return .ok(["last": 0, "end": "authenticated"]) }
    report("signs the box in at provider \(provider), for app \(who.app)", who)
    return .ok(try await boxSignIn.begin(provider, who).document)
  }

  private func report(_ line: String, _ who: AppRequestor) { lines.note(line, of: "app \(who.app)") }

  private func document(_ standing: AppStanding) -> JSONObject {
    var object: JSONObject = [
      "version": 1, "app": .string(standing.who.app), "requestor": .string(standing.who.requestor),
      "permission": .string(standing.permission.rawValue),
      "signedIn": .bool(standing.signIn != nil || standing.failure != nil),
    ]
    // The viewer and the provider are shown only to apps with a permission.
    guard standing.permission == .granted else { return object }
    if let failure = standing.failure { object["failure"] = .string(failure) }
    if let refusal = standing.refusal { object["refusal"] = .string(refusal) }
    if let signIn = standing.signIn {
      object["provider"] = .string(signIn.provider)
      object["providerName"] = .string(signIn.providerName)
      object["viewer"] = .string(signIn.user)
      object["expires"] = .integer(signIn.expires)
    }
    return object
  }

  // MARK: Identifying the app

  private enum Outcome {
    case ok(JSONObject)
    case malformed
  }

  /// Identifies the app first.
  ///
  /// A program that is no app thus gets the same response in every state of the box.
  private func reply(
    _ request: Request,
    _ ask: @escaping @Sendable (AppRequestor, JSONObject) async throws(CommandError) -> Outcome
  ) -> Answer {
    let caller = request.caller
    guard let body = (try? JSONValue(reading: request.body, limits: Self.limits))?.object,
      let requestor = body["requestor"]?.string
    else { return .now(Self.malformed) }
    return .later { pending in
      Task {
        guard let caller, let app = apps.app(of: caller, on: socket, requestor: requestor) else {
          if let caller { await host.note(refused: caller.user, requestor) }
          pending.complete(Self.notAnApp(caller?.user))
          return
        }
        do throws(CommandError) {
          switch try await ask(AppRequestor(app: app, requestor: requestor), body) {
          case .ok(let document): pending.complete(DaemonAnswer.document(.ok, .object(document)))
          case .malformed: pending.complete(Self.malformed)
          }
        } catch {
          pending.complete(DaemonAnswer.document(Status(422), error.document))
        }
      }
    }
  }

  /// The time in seconds for which the program wants to wait, from the header `Prefer: wait=N`.
  private func wait(_ request: Request) -> Int64 {
    let asked = request.headers(.prefer).lazy.flatMap { $0.split(separator: ",") }.compactMap { word -> Int64? in
      let word = word.filter { $0 != " " }.lowercased()
      return word.hasPrefix("wait=") ? Int64(word.dropFirst(5)) : nil
    }.first
    return max(0, min(Self.longestWait, asked ?? 0))
  }

  private static let malformed = DaemonAnswer.refusal(
    .badRequest, "the request cannot be read", code: "malformed")

  private static func notAnApp(_ user: UInt32?) -> Response {
    let user = user.map(String.init) ?? "NAME"
    return DaemonAnswer.document(
      .forbidden,
      CommandError(
        "this program is not an app in agent.conf",
        hint: "add to /etc/regent/agent.conf: app = NAME user:\(user) requestor:ID; then run systemctl restart regent",
        code: "not-an-app"
      ).document)
  }
}
