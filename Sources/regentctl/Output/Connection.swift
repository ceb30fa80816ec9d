import Administration
import CommandKit
import RegentHTTPClient
import RegentPlatform

/// How the running service is found.
enum Connection {
  static let socket = Input.option(
    "socket", .file, "the service's admin socket; by default where regentd puts it")

  private static let machineSocket = "/run/regentd/admin.sock"

  /// A client for the service that the call means, which makes one call after the other unless it is told otherwise.
  static func admin(_ call: Invocation, together: Bool = false) -> AdminClient {
    client(call[socket] ?? usualSocket(call.environment), on: together ? .own : .callers)
  }

  /// Whether the call means the service that the machine's own unit runs.
  static func isOfMachine(_ call: Invocation) -> Bool {
    (call[socket] ?? usualSocket(call.environment)) == machineSocket
  }

  /// A client while somebody presses Tab.
  static func admin(_ request: CompletionRequest) -> AdminClient {
    client(request[socket] ?? usualSocket(request.environment), on: .callers)
  }

  private static func client(_ path: String, on thread: ClientConfiguration.CallThread) -> AdminClient {
    // The client takes a path for a Unix socket when it looks like one.
    let isPlain = !path.hasPrefix("/") && !path.hasPrefix(".") && !path.hasPrefix("@")
    var configuration = ClientConfiguration(wallClock: Clocks.wallMilliseconds)
    configuration.callThread = thread
    return AdminClient(socket: isPlain ? "./\(path)" : path, client: Client(configuration))
  }

  /// Where a service puts its socket: the first place where something is, else the first.
  private static func usualSocket(_ environment: Environment) -> String {
    if let given = environment["REGENT_ADMIN_SOCKET"] { return given }
    let places = usualPlaces(environment)
    // Where none is, a package's is the one that somebody misses: its folder is there while it is stopped, too.
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
    // A service that this user runs, then the machine's. For root after `su` the variables may still be another user's,
    // and that user would get the passwords that root types.
    return [own.flatMap { SocketPlace.isForeign($0) ? nil : $0 }, machineSocket].compactMap(\.self)
  }

  private static var isPackaged: Bool { SocketPlace.isThere("/usr/lib/systemd/system/regentd.service") }

  private static func exists(_ path: String) -> Bool {
    do throws(FileError) {
      return try PrivateFile.check(path)
    } catch {
      // A socket is not a file of ours, and that is how it shows that it is there.
      return error.kind == .notAFile
    }
  }
}

/// A verb that talks to the service.
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
