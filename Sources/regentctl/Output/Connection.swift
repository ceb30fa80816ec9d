import Administration
import CommandKit
import RegentHTTPClient
import RegentPlatform

/// Finds the admin socket of the running service.
enum Connection {
  static let socket = Input.option(
    "socket", .file, "the service's admin socket (default: where regentd creates it)")

  private static let machineSocket = "/run/regentd/admin.sock"

  /// A client for the service.
  ///
  /// The client makes one call at a time, unless `together` is true.
  static func admin(_ call: Invocation, together: Bool = false) -> AdminClient {
    client(path(call), on: together ? .own : .callers, as: Invoker.name(call.environment))
  }

  /// The path of the socket that a command uses.
  static func path(_ call: Invocation) -> String { call[socket] ?? usualSocket(call.environment) }

  /// Whether the socket is that of the installed systemd unit.
  static func isOfMachine(_ call: Invocation) -> Bool {
    path(call) == machineSocket
  }

  /// A client for completion, when the user presses Tab.
  static func admin(_ request: CompletionRequest) -> AdminClient {
    client(request[socket] ?? usualSocket(request.environment), on: .callers)
  }

  private static func client(
    _ path: String, on thread: ClientConfiguration.CallThread, as invoker: String? = nil
  ) -> AdminClient {
    // The client recognises the path of a Unix socket by its first character.
    let isPlain = !path.hasPrefix("/") && !path.hasPrefix(".") && !path.hasPrefix("@")
    var configuration = ClientConfiguration(wallClock: Clocks.wallMilliseconds)
    configuration.callThread = thread
    return AdminClient(socket: isPlain ? "./\(path)" : path, client: Client(configuration), invoker: invoker)
  }

  /// The default socket: the first place where one exists, otherwise the first place.
  private static func usualSocket(_ environment: Environment) -> String {
    if let given = environment["REGENT_ADMIN_SOCKET"] { return given }
    let places = usualPlaces(environment)
    // If no socket exists, a machine with the package should name the package's socket, whose folder exists while the
    // service is stopped.
    return places.first(where: exists) ?? (isPackaged ? machineSocket : places[0])
  }

  private static func usualPlaces(_ environment: Environment) -> [String] {
    if let state = environment["STATE_DIRECTORY"]?.split(separator: ":").first {
      return ["\(state)/admin.sock"]
    }
    let home = environment["HOME"] ?? (try? Accounts.user(id: Accounts.effectiveUser))?.home
    let own =
      environment["XDG_STATE_HOME"].map { "\($0)/regent/admin.sock" }
      ?? home.map { "\($0)/.local/state/regent/admin.sock" }
    // The socket of a service that this user runs, then the machine's. For root after `su` the variables may still be
    // another user's, and that user would get the passwords that root types.
    return [own.flatMap { SocketPlace.isForeign($0) ? nil : $0 }, machineSocket].compactMap(\.self)
  }

  private static var isPackaged: Bool { SocketPlace.isThere("/usr/lib/systemd/system/regentd.service") }

  private static func exists(_ path: String) -> Bool {
    do throws(FileError) {
      return try PrivateFile.check(path)
    } catch {
      // The check reports a socket as "not a file", and so shows that the socket exists.
      return error.kind == .notAFile
    }
  }
}

/// Declares a verb that calls the service.
func verb(
  _ name: String, _ summary: String, details: String = "", inputs: [any InputDeclaration] = [],
  sections: [InputSection] = [], rules: [InputRule] = [], example: String,
  run: @escaping @Sendable (Invocation, AdminClient) async throws -> Void
) -> Command {
  Command(
    name, summary, details: details, inputs: inputs, sections: sections, rules: rules,
    example: "regentctl \(example)"
  ) { call in
    try await run(call, Connection.admin(call))
  }
}
