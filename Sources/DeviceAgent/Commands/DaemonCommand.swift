import CommandKit
import HTTPServer
import RegentPlatform

/// `regent daemon`: keeps the tokens and serves local programs.
enum DaemonCommand {
  private static let mode = Input.option(
    "socket-mode", .mode, default: 0o666,
    "the mode of the socket; the allow list decides who gets what")

  static func command(_ context: AgentContext) -> Command {
    Command(
      "daemon", "keep the tokens and hand them to local programs",
      details: """
        Every other command asks the daemon when it runs. Root and the daemon's own user may do everything; other \
        users what agent.conf says, one line for each:

        allow = user:kodi token=sport-* preauthorize status

        Actions are status, providers, preauthorize, token, metadata, header, logout, pair (signs this box in), sso \
        (decides for apps) and oauth (tokens of other services); token and preauthorize may name a pattern of resources, \
        oauth one of names, header a method and a path: header=GET:/api/v1/tokens/authn. A call for titles, attributes or \
        codes also needs token=*, preauthorize, metadata or pair; sign-outs and the platform account get no header. \
        regent doctor says what each line gives. Apps of the box's TV provider account \
        have lines of their own, and need none of these:

        app = kodi user:kodi requestor:acme socket:kodi

        All that is named must hold: a user or a group, the requestors, a socket that is this app's alone. The lists are read at the start: after a change, systemctl restart regent.

        A box without a TV service needs none of that: with a name of regent oauth add, and no service, requestor or key \
        in its settings, the daemon keeps the tokens of other services alone.

        A command that was given another service, requestor, key or state folder than the daemon has, in options, \
        variables or a settings file of its user, does without the daemon.
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
      oauth: OAuthTokenSource(state: settings.state, proxy: settings.proxy, buildTime: context.buildTime)
    ) { console.note($0) }
    let sockets = try DaemonSockets(settings, variables, process, mode: call[mode], apps: platform?.apps ?? AppBook([]))
    // The folders are removed after the server, because its sockets are in them.
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
        // Checks hourly whether the box was signed in or out elsewhere, so that local programs need not wait for that
        // check.
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
        "something is already listening on \(address)",
        hint: "stop the other daemon, or choose another --socket")
    case .cannotListen(let address, let reason):
      CommandError(
        "cannot listen on \(address): \(reason)",
        hint: "check that this user may write in that folder, or choose another --socket")
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
          throw ValueProblem("is not a mode", hint: "write it as 600, 660 or 666")
        }
        return mode
      })
  }
}
