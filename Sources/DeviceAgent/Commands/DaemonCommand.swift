import CommandKit
import HTTPServer
import RegentPlatform

/// `regent daemon`: keeps the tokens and serves local programs.
enum DaemonCommand {
  private static let mode = Input.option(
    "socket-mode", .mode, default: 0o666,
    "the mode of the socket; the lines allow = … decide what each user gets")

  static func command(_ context: AgentContext) -> Command {
    Command(
      "daemon", "run the daemon, which renews tokens and gives them to local programs",
      details: """
        While the daemon runs, all other commands use it. Root and the daemon's user may do everything. Other users \
        need a line in agent.conf:

        allow = user:kodi token=sport-* preauthorize status

        Actions are status, providers, preauthorize, token, metadata, header, logout, pair (sign this box in), sso \
        (decide for apps) and oauth (tokens of other services). token and preauthorize can be limited to a pattern of \
        titles, oauth to a pattern of names, header to a method and a path: header=GET:/api/v1/tokens/authn. See \
        regent header --help for the other permissions that a header needs. "regent doctor" prints what each line \
        allows. Apps that use the box's TV provider account have their own lines, and need no allow line:

        app = kodi user:kodi requestor:acme socket:kodi

        An app must match everything that its line names: user or group, requestor, and a socket that only this app \
        may use. After a change of agent.conf run "systemctl restart regent".

        Without a service, requestor or key in its settings, the daemon keeps only the tokens of "regent oauth".

        A command whose service, requestor, key or state folder differ from the daemon's works without the daemon.
        """,
      inputs: [mode], example: "regent daemon"
    ) { call async throws in
      let settings = try AgentSettings(call)
      try await run(settings, call, context)
    }
  }

  private static func run(
    _ settings: AgentSettings, _ call: Invocation, _ context: AgentContext
  ) async throws {
    let variables = ProcessEnvironment.all()
    let process = context.processID
    let (stops, sink) = AsyncStream.makeStream(of: Void.self)
    let signals = try SignalListener(context.held) { signal in
      if signal == .terminate || signal == .interrupt { sink.yield() }
    }
    defer { signals.stop() }
    let enabler = try settings.hasOAuthAlone() ? nil : EnablerSource(settings, buildTime: context.buildTime)
    let console = call.console
    let pairing = PairHost { order throws(CommandError) in
      try settings.link(order, buildTime: context.buildTime)
    }
    let platform = try enabler.map { enabler throws(CommandError) in try PlatformParts(settings, enabler, pairing) }
    if let trouble = platform?.trouble { console.note("regent: \(trouble)") }
    let daemon = DaemonServer(
      enabler ?? NoService(), of: BoxIdentity(settings, onlyGiven: false),
      state: realPath(settings.state) ?? settings.state, allowRules: settings.allowRules,
      pairing: pairing, platform: platform,
      oauth: OAuthTokenSource(state: settings.state, buildTime: context.buildTime)
    ) { console.note($0) }
    let sockets = try DaemonSockets(settings, variables, process, mode: call[mode], apps: platform?.apps ?? AppBook([]))
    // The folders of the sockets are removed after the server has ended, because its sockets are in them.
    defer { sockets.removeFolders() }
    var configuration = ServerConfiguration()
    configuration.loops = 1
    configuration.connections = 256
    configuration.bodyBytes = 65_536
    // The systemd unit limits this program to 64 MiB in total.
    configuration.bufferedBytes = 8 * 1024 * 1024
    configuration.refusal = DaemonAnswer.ofServer
    // Reserves connections for root and the daemon's own user, so that other users cannot take all of them.
    configuration.favour(rootAnd: Accounts.effectiveUser)
    configuration.namedUsers = named(settings.allowRules, platform?.apps.rules ?? [])
    let server: Server
    var listeners = [Listener(sockets.common, handler: try daemon.router())]
    for (name, address) in sockets.ofApps {
      listeners.append(Listener(address, handler: try daemon.router(ofApp: name)))
    }
    do throws(ServerError) {
      server = try Server(listeners, configuration: configuration)
    } catch {
      throw sentence(about: error)
    }
    defer { server.stop(within: .seconds(2)) }
    let claim = try platform?.claim()
    defer { withExtendedLifetime(claim) {} }
    for address in server.addresses { console.note("regent: listening on \(address)") }
    let notification = try ServiceNotification(environment: variables, processID: process)
    try? notification?.ready(status: "keeps the tokens")
    let upkeep = Task {
      while !Task.isCancelled {
        // Checks hourly whether the box was signed in or out elsewhere, so that requests of local programs need not
        // wait for that check.
        _ = try? await enabler?.status()
        try await Task.sleep(for: .seconds(3_600))
      }
    }
    defer { upkeep.cancel() }
    await platform?.begin()
    let watchdog = watch(notification)
    defer { watchdog?.cancel() }
    for await _ in stops { break }
    try? notification?.stopping()
  }

  /// The users and groups that agent.conf names.
  ///
  /// The server reserves connections for them, so that other users cannot keep them out.
  private static func named(_ rules: [AllowRule], _ apps: [AppRule]) -> NamedUsers {
    var named = NamedUsers(users: [], groups: [])
    for rule in rules {
      switch rule.who {
      case .user(let id): named.users.insert(id)
      case .group(let id): named.groups.insert(id)
      case .everybody: break
      }
    }
    for app in apps {
      if let user = app.user { named.users.insert(user) }
      if let group = app.group { named.groups.insert(group) }
    }
    return named
  }

  private static func watch(_ notification: ServiceNotification?) -> Task<Void, any Error>? {
    guard let notification, let interval = notification.watchdogInterval else { return nil }
    return Task {
      while true {
        try? notification.watchdog()
        try await Task.sleep(for: interval)
      }
    }
  }

  private static func sentence(about error: ServerError) -> CommandError {
    switch error {
    case .addressInUse(let address):
      CommandError(
        "another program is already listening on \(address)",
        hint: "stop the other daemon, or choose another --socket")
    case .cannotListen(let address, let reason):
      CommandError(
        "cannot listen on \(address): \(reason)",
        hint: "check that this user may write to that folder, or choose another --socket")
    case .notASocket(let path):
      CommandError(
        "\(path) exists and is not a socket", hint: "move it away, or choose another --socket")
    case .certificate, .resources: CommandError("\(error)")
    }
  }
}

extension ValueKind where Value == UInt32 {
  fileprivate static var mode: ValueKind {
    ValueKind(
      "MODE", show: { String($0, radix: 8) },
      read: { text throws(ValueProblem) in
        guard text.utf8.count <= 4, let mode = UInt32(text, radix: 8), mode <= 0o777 else {
          throw ValueProblem("is not a mode", hint: "use a form such as 600, 660 or 666")
        }
        return mode
      })
  }
}
