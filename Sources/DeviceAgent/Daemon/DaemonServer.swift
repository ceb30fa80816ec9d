import CommandKit
import RegentHTTPCodec
import HTTPServer
import RegentJSON
import RegentPlatform

/// Serves local programs on the daemon's Unix sockets.
///
/// The kernel identifies the user; the rules of agent.conf decide what that user may do.
struct DaemonServer: Sendable {
  private let source: any EntitlementSource
  private let identity: BoxIdentity
  private let state: String
  private let allowRules: [AllowRule]
  private let owner: UInt32
  private let lines: CappedLines
  private let pairing: PairHost
  private let platform: PlatformParts?
  private let oauth: OAuthTokenSource?
  private let grants = SingleFlight<AuthorizeQuestion, MediaGrant>()

  /// Creates a daemon for the tokens of `source` in the folder `state`.
  ///
  /// The user `owner` may do everything, as root may.
  ///
  /// `report` gets the lines for the log, which say which user got a secret, changed something or was refused. The
  /// lines never contain a token.
  init(
    _ source: any EntitlementSource, of identity: BoxIdentity = BoxIdentity(), state: String = "",
    allowRules: [AllowRule], owner: UInt32 = Accounts.effectiveUser, pairing: PairHost? = nil,
    platform: PlatformParts? = nil, oauth: OAuthTokenSource? = nil, report: @escaping @Sendable (String) -> Void
  ) {
    self.source = source
    self.identity = identity
    self.state = state
    self.allowRules = allowRules
    self.owner = owner
    self.pairing =
      pairing
      ?? PairHost { _ throws(CommandError) in
        throw CommandError(
          "this daemon cannot sign the box in: it was started without that part",
          hint: "stop the daemon, then run regent pair", code: "not-allowed")
      }
    self.platform = platform
    self.oauth = oauth
    lines = CappedLines(write: report)
  }

  /// The router for the socket that all local programs share.
  func router() throws -> Router { try router(routes()) }

  /// The routes of the socket that belongs to one app: the requests for apps, and the liveness check.
  func router(ofApp socket: String) throws -> Router {
    var routes = Routes()
    mountAlive(&routes)
    platform?.routes(socket, lines).mount(&routes)
    return try router(routes)
  }

  private func router(_ routes: Routes) throws -> Router {
    try Router(routes) { request, refusal in
      let path = String(decoding: request.path.prefix(100), as: UTF8.self)
      return DaemonAnswer.refusal(
        refusal.status, "the daemon has no call \(request.method.token) \(path)", code: "no-such-call")
    }
  }

  /// All routes of the socket that the local programs share; `docs/socket.md` describes them.
  func routes() -> Routes {
    var routes = Routes()
    mountAlive(&routes)
    routes.get("/v1/status") { request, _ in
      reply(request, .status) { () throws(CommandError) in
        var status = try await source.status()
        status.isFromDaemon = true
        // A program that knows the device id and has the app's key pair could send requests as this box. So only users
        // with the permission `header` get the device id.
        if !isAllowed(request, .header, nil) { status.deviceID = nil }
        return status.document
      }
    }
    routes.get("/v1/providers") { request, _ in
      reply(request, .providers) { () throws(CommandError) in
        ["providers": .array(try await source.providers().map(\.document))]
      }
    }
    routes.post("/v1/preauthorize") { request, _ in preauthorize(request) }
    routes.post("/v1/authorize") { request, _ in authorize(request) }
    routes.post("/v1/metadata") { request, _ in
      guard let key = body(request)?["key"]?.string else { return malformed }
      return reply(request, .metadata) { () throws(CommandError) in
        ["value": try await source.metadata(key)]
      }
    }
    routes.post("/v1/header") { request, _ in
      guard let body = body(request), let method = body["method"]?.string,
        let path = body["path"]?.string
      else { return malformed }
      return header(request, method: method, path: path)
    }
    routes.post("/v1/logout") { request, _ in
      reply(request, .logout) { () throws(CommandError) in
        // If the box has apps, signing out deletes the box's key too, and is retried until the service has confirmed
        // it.
        guard let platform else { return .object(try await source.signOut().members) }
        return .object(try await platform.host.signOut().members)
      }
    }
    mountPairing(&routes)
    if let oauth { mountOAuth(oauth, &routes) }
    if let platform {
      platform.routes(nil, lines).mount(&routes)
      mountSettings(platform.host, platform.apps, &routes)
    }
    return routes
  }

  private func mountAlive(_ routes: inout Routes) {
    routes.post("/v1/alive") { request, _ in
      guard let asked = body(request).flatMap(BoxIdentity.init) else { return malformed }
      let home = DaemonIdentity(
        state: state, user: owner, differences: asked.differences(from: identity))
      return .now(answer(.ok, home.document))
    }
  }

  /// The steps of a sign-in for a local program: begin, request a code, poll for events, withdraw.
  private func mountPairing(_ routes: inout Routes) {
    routes.post("/v1/pair/begin") { request, _ in
      guard let order = body(request).map(PairOrder.init) else { return malformed }
      // A sign-in at another OAuth server needs the permission `oauth` for its name, in addition to `pair`.
      let isOfOAuth = order.oauth != nil && isAllowed(request, .pair, nil)
      return reply(request, isOfOAuth ? .oauth : .pair, resource: order.oauth) { () throws(CommandError) in
        let begun = try await pairing.begin(order, by: user(request))
        return ["id": .string(begun.id), "after": .integer(Int64(begun.after))]
      }
    }
    routes.post("/v1/pair/code") { request, _ in
      guard let body = body(request), let id = body["id"]?.string else { return malformed }
      return reply(request, .pair, detail: "code") { () throws(CommandError) in
        try await pairing.requestCode(
          id, body["provider"]?.string, isFirst: body["first"]?.bool ?? false, by: user(request))
        return [:]
      }
    }
    routes.post("/v1/pair/news") { request, _ in
      guard let body = body(request), let id = body["id"]?.string,
        let last = body["after"]?.int64.flatMap({ Int(exactly: $0) }), last >= 0
      else { return malformed }
      let wait = body["wait"]?.int64.map { Duration.milliseconds(max(0, $0)) }
      return reply(request, .pair, isLogged: false) { () throws(CommandError) in
        let news = try await pairing.news(of: id, after: last, wait: wait, by: user(request))
        return [
          "events": .array(news.events.map(\.document)), "last": .integer(Int64(news.last)),
        ]
      }
    }
    routes.post("/v1/pair/withdraw") { request, _ in
      guard let id = body(request)?["id"]?.string else { return malformed }
      return reply(request, .pair, detail: "withdraw") { () throws(CommandError) in
        try await pairing.withdraw(id, by: user(request))
        return [:]
      }
    }
  }

  private func user(_ request: Request) -> UInt32 { request.peer.credentials?.user ?? .max }

  private func preauthorize(_ request: Request) -> Answer {
    guard let texts = body(request)?["resources"]?.array, texts.count <= 1_000 else {
      return malformed
    }
    let resources = texts.compactMap(\.string)
    guard resources.count == texts.count else { return malformed }
    // Resources that the caller may not ask about are left out of the request, so that the response reveals nothing
    // about them.
    let asked = resources.filter { isAllowed(request, .preauthorize, $0) }
    return reply(request, .preauthorize) { () throws(CommandError) in
      let allowed = asked.isEmpty ? [] : try await source.preauthorize(asked)
      return ["resources": .array(allowed.map { .string($0) })]
    }
  }

  private func authorize(_ request: Request) -> Answer {
    guard let question = body(request)?.object.flatMap(AuthorizeQuestion.init) else { return malformed }
    let resource = question.resource
    return reply(request, .token, resource: resource, detail: resource) {
      () throws(CommandError) in
      let grant = try await grants.answer(question) { () throws(CommandError) in
        try await source.authorize(resource, data: question.data)
      }
      return grant.document
    }
  }

  private func header(_ request: Request, method: String, path: String) -> Answer {
    let call = HeaderCall(method: method, path: path)
    let detail = "\(method) \(path)"
    let isOwners = isOwners(request)
    guard isOwners || call != nil || !isAllowed(request, .header, nil) else {
      return refuse(request, "\(request.peer) header \(detail)") { user in
        CommandError(
          "user \(Self.name(user)) may not get an Authorization header for this request",
          hint:
            "only root may sign this request; use the daemon's own call for sign-outs, apps and titles (socket.md)",
          code: "not-allowed")
      }
    }
    if !isOwners, let other = call?.alsoNeeds, !isAllowedAll(request, other) {
      return refuse(request, "\(request.peer) header \(detail)") { user in
        Self.refusal(of: "header \(other.rawValue)\(other.takesNames ? "=*" : "")", to: user)
      }
    }
    return reply(request, .header, resource: call?.name, detail: detail) { () throws(CommandError) in
      ["header": .string(try await source.header(method: method, path: path))]
    }
  }

  /// Whether the caller is root or the daemon's own user.
  ///
  /// Both can read the daemon's secret anyway.
  private func isOwners(_ request: Request) -> Bool {
    guard let caller = request.caller else { return false }
    return caller.user == 0 || caller.user == owner
  }

  private func isAllowed(_ request: Request, _ action: DaemonAction, _ resource: String?) -> Bool {
    if isOwners(request) { return true }
    guard let caller = request.caller else { return false }
    return allowRules.contains { $0.allows(action, resource: resource, to: caller) }
  }

  private func isAllowedAll(_ request: Request, _ action: DaemonAction) -> Bool {
    guard let caller = request.caller else { return false }
    return allowRules.contains { $0.allowsAll(action, to: caller) }
  }

  func reply(
    _ request: Request, _ action: DaemonAction, resource: String? = nil, detail: String = "",
    isLogged: Bool? = nil,
    _ ask: @escaping @Sendable () async throws(CommandError) -> JSONValue
  ) -> Answer {
    let isLogged = isLogged ?? action.isWorthALine
    let line = ["\(request.peer)", action.rawValue, detail].filter { !$0.isEmpty }
      .joined(separator: " ")
    guard isAllowed(request, action, resource) else {
      return refuse(request, line) { user in
        let isOneWord = resource.map { !$0.isEmpty && !$0.contains(where: \.isWhitespace) } ?? false
        return Self.refusal(of: action.rawValue + (isOneWord ? "=\(resource ?? "*")" : ""), to: user)
      }
    }
    return .later { pending in
      Task {
        do throws(CommandError) {
          let document = try await ask()
          if isLogged { log(line, of: request) }
          pending.complete(answer(.ok, document))
        } catch {
          if isLogged { log("not given: \(line): \(error.message)", of: request) }
          pending.complete(answer(Status(422), error.document))
        }
      }
    }
  }

  private func log(_ line: String, of request: Request) {
    let user = user(request)
    lines.note(line, of: user == 0 || user == owner ? nil : "user \(user)")
  }

  private func refuse(
    _ request: Request, _ line: String, _ error: @escaping @Sendable (UInt32?) -> CommandError
  ) -> Answer {
    log("refused: \(line)", of: request)
    return .later { pending in
      // Looking up a user name may need the network, so it must not block the event loop.
      Task.detached { pending.complete(answer(.forbidden, error(request.peer.credentials?.user).document)) }
    }
  }

  private static func name(_ user: UInt32?) -> String { user.map { Accounts.title(of: $0) } ?? "NAME" }

  /// An error whose hint is the line for agent.conf that allows this request.
  private static func refusal(of what: String, to user: UInt32?) -> CommandError {
    CommandError(
      "user \(name(user)) may not use \(what)",
      hint: "add to /etc/regent/agent.conf: allow = user:\(name(user)) \(what); then run systemctl restart regent",
      code: "not-allowed")
  }

  var malformed: Answer {
    .now(DaemonAnswer.refusal(.badRequest, "the request cannot be read", code: "malformed"))
  }

  func body(_ request: Request) -> JSONValue? { try? JSONValue(reading: request.body) }

  private func answer(_ status: Status, _ document: JSONValue) -> Response {
    DaemonAnswer.document(status, document)
  }
}

extension Request {
  /// The user, group and process at the other end of the socket.
  var caller: UnixCredentials? {
    guard let peer = self.peer.credentials else { return nil }
    return UnixCredentials(
      process: peer.process, user: peer.user, group: peer.group, supplementaryGroups: peer.supplementaryGroups)
  }
}
