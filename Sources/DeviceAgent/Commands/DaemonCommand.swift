import CommandKit
import HTTPServer
import Platform

/// `regent daemon`: owns the tokens and answers local programs.
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

        Actions are status, providers, preauthorize, token, metadata, header and logout; token and preauthorize may \
        name a pattern of resources.
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
    let source = try EnablerSource(settings, buildTime: context.buildTime)
    let console = call.console
    let daemon = DaemonServer(source, allowances: settings.allowances) { console.note($0) }
    let address = try place(settings, variables, process, mode: call[mode])
    var configuration = ServerConfiguration()
    configuration.loops = 1
    configuration.connections = 256
    configuration.bodyBytes = 65_536
    // Whoever may connect cannot keep the owner out.
    configuration.favour(rootAnd: Accounts.effectiveUser)
    let server: Server
    let router = try daemon.router()
    do throws(ServerError) {
      server = try Server([Listener(address, handler: router)], configuration: configuration)
    } catch {
      throw CommandError("\(error)", hint: "stop the other daemon, or choose another --socket")
    }
    defer { server.stop(within: .seconds(2)) }
    console.note("regent: listening on \(server.addresses[0])")
    let notification = try ServiceNotification(environment: variables, processID: process)
    try? notification?.ready(status: "keeps the tokens")
    let upkeep = Task {
      while !Task.isCancelled {
        // Signed out elsewhere, or in: nobody who asks should have to wait for finding that out.
        _ = try? await source.status()
        try await Task.sleep(for: .seconds(3_600))
      }
    }
    defer { upkeep.cancel() }
    let watchdog = watch(notification)
    defer { watchdog?.cancel() }
    for await _ in stops { break }
    try? notification?.stopping()
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

  /// The socket that systemd opened, else one of our own.
  private static func place(
    _ settings: AgentSettings, _ variables: [String: String], _ process: Int32, mode: UInt32
  ) throws(CommandError) -> ListenAddress {
    do throws(SystemError) {
      let inherited = try SocketActivation.inheritedSockets(
        environment: variables, processID: process)
      if let socket = inherited.first { return .inherited(descriptor: socket.number) }
    } catch {
      throw CommandError(error.description, hint: error.hint)
    }
    let runtime = variables["RUNTIME_DIRECTORY"]?.split(separator: ":").first
    let path =
      settings.socket ?? runtime.map { "\($0)/agent.sock" } ?? settings.socketPlaces.first ?? ""
    do throws(FileError) {
      // A folder of our own keeps others from putting their socket there first.
      if settings.socket == nil, runtime == nil, let slash = path.lastIndex(of: "/") {
        try PrivateDirectory.ensure(String(path[..<slash]))
      }
    } catch {
      throw CommandError(error.description, hint: error.hint)
    }
    return .local(path: path, mode: mode, group: nil)
  }
}

extension ValueKind where Value == UInt32 {
  /// Permission bits in octal: `660`.
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
