import CommandKit
import RegentHTTPClient
import RegentHTTPCodec
import RegentJSON
import RegentPlatform

/// The result of looking for a running daemon.
enum DaemonSearch: Sendable {
  /// No daemon is running.
  case none
  /// A daemon runs for another box.
  ///
  /// `differences` are the options in which it differs from the command's settings.
  case another(differences: [String])
  case found(DaemonClient)
}

/// Sends requests to the daemon over its Unix socket.
struct DaemonClient: EntitlementSource {
  /// The folder with the daemon's tokens, and the daemon's user.
  private(set) var home = DaemonIdentity()
  private let client: Client
  /// The socket paths at which the daemon may listen.
  ///
  /// The first one that accepts a connection is used.
  private let places: [String]

  /// The deadline of requests that may take long: a provider may take half a minute to authorize, and long polls are
  /// held.
  private static let deadline = Duration.seconds(60)
  /// The deadline of short requests: the daemon answers them itself, or with one request to the service.
  private static let shortDeadline = Duration.seconds(12)

  private init(places: [String], on thread: ClientConfiguration.CallThread) {
    self.places = places
    var configuration = ClientConfiguration(wallClock: { Clocks.wallMilliseconds() })
    configuration.callThread = thread
    client = Client(configuration)
  }

  /// The daemon of this box, for a command whose options cannot mean another box.
  ///
  /// Sends no request to check the daemon's identity, because that would double the time of a short command.
  ///
  /// - Returns: `nil` if an option may mean another box, or if there is no socket. The caller then uses
  ///   ``find(_:together:)``.
  static func ofThisBox(_ settings: AgentSettings) -> DaemonClient? {
    let places = settings.socketPlaces.filter { SocketPlace.isThere($0) }
    guard !places.isEmpty, BoxIdentity(settings, onlyGiven: true).values.isEmpty else { return nil }
    return DaemonClient(places: places, on: .callers)
  }

  /// Finds the running daemon for these settings and checks its identity.
  ///
  /// The client's requests run one after the other, unless `together` is set.
  static func find(
    _ settings: AgentSettings, together: Bool = false
  ) async throws(CommandError) -> DaemonSearch {
    let given = BoxIdentity(settings, onlyGiven: true)
    var found = DaemonSearch.none
    for place in settings.socketPlaces {
      var daemon = DaemonClient(places: [place], on: together ? .own : .callers)
      let answer: ClientResponse
      do throws(ClientError) {
        answer = try await daemon.call(.post, "/v1/alive", given.document, within: shortDeadline)
      } catch {
        if error.isAbsence { continue }
        // There is a daemon's socket, but this user may not connect to it. The command must not use this user's own
        // tokens, because they may be of another sign-in.
        throw daemon.sentence(about: error)
      }
      guard let document = try? JSONValue(reading: answer.body), answer.status.isSuccess,
        document["alive"]?.bool == true, let home = DaemonIdentity(document)
      else { throw daemon.unreadable }
      daemon.home = home
      if home.differences.isEmpty { return .found(daemon) }
      guard !settings.insistsOnSocket else { throw home.isAnother(at: place) }
      found = .another(differences: home.differences)
    }
    if settings.insistsOnSocket, case .none = found {
      throw CommandError(
        "the daemon is not running: no program listens on \(settings.socket ?? "")",
        hint:
          "start it: regent daemon --socket \(settings.socket.map(shellQuoted) ?? "FILE"); "
          + "or remove --socket to work without the daemon",
        code: "daemon", exit: .unreachable)
    }
    return found
  }

  func status() async throws(CommandError) -> AgentStatus {
    guard let status = AgentStatus(try await ask(.get, "/v1/status")) else { throw unreadable }
    return status
  }

  func providers() async throws(CommandError) -> [ProviderEntry] {
    let answer = try await ask(.get, "/v1/providers")
    return (answer["providers"]?.array ?? []).compactMap(ProviderEntry.init)
  }

  func preauthorize(_ resources: [String]) async throws(CommandError) -> [String] {
    let body: JSONValue = ["resources": .array(resources.map { .string($0) })]
    let answer = try await ask(.post, "/v1/preauthorize", body)
    return (answer["resources"]?.array ?? []).compactMap(\.string)
  }

  func authorize(_ resource: String, data: [String: String]) async throws(CommandError) -> MediaGrant {
    let question = AuthorizeQuestion(resource: resource, data: data)
    let answer = try await ask(.post, "/v1/authorize", .object(question.document))
    guard let grant = MediaGrant(answer) else { throw unreadable }
    return grant
  }

  func metadata(_ key: String) async throws(CommandError) -> JSONValue {
    let answer = try await ask(.post, "/v1/metadata", ["key": .string(key)])
    return answer["value"] ?? .null
  }

  func header(method: String, path: String) async throws(CommandError) -> String {
    let body: JSONValue = ["method": .string(method), "path": .string(path)]
    guard let header = try await ask(.post, "/v1/header", body)["header"]?.string else {
      throw unreadable
    }
    return header
  }

  /// Sends a request about a sign-in that the daemon does for this user.
  func pair(_ step: String, _ body: JSONObject) async throws(CommandError) -> JSONValue {
    try await ask(.post, "/v1/pair/\(step)", .object(body))
  }

  /// Sends a request about the box's TV provider account.
  func sso(_ verb: String, _ body: JSONObject = [:]) async throws(CommandError) -> JSONValue {
    try await ask(
      .post, "/v1/sso/\(verb)", .object(body), within: verb == "prompts" ? Self.deadline : Self.shortDeadline)
  }

  /// Sends a request about a sign-in at another OAuth server.
  func oauth(_ verb: String, _ body: JSONObject) async throws(CommandError) -> JSONValue {
    try await ask(.post, "/v1/oauth/\(verb)", .object(body))
  }

  func signOut() async throws(CommandError) -> SignOutEnd {
    // Daemons of earlier versions omit `wasSignedIn` and `serviceKnows` from the response.
    let answer = try await ask(.post, "/v1/logout", [:])
    guard answer["wasSignedIn"]?.bool ?? true else { return .wasNotSignedIn }
    return answer["serviceKnows"]?.bool ?? true ? .told : .untold
  }

  var unreadable: CommandError {
    CommandError(
      "the program on \(places.joined(separator: " or ")) is not a daemon of this version",
      hint: "for an older daemon, run systemctl restart regent; for another program, check --socket and "
        + "REGENT_AGENT_SOCKET", code: "daemon")
  }

  private func ask(
    _ method: RegentHTTPCodec.Method, _ target: String, _ body: JSONValue? = nil, within deadline: Duration = deadline
  ) async throws(CommandError) -> JSONValue {
    let response: ClientResponse
    do throws(ClientError) {
      response = try await call(method, target, body, within: deadline)
    } catch {
      guard error.isAbsence else { throw sentence(about: error) }
      throw CommandError(
        "the daemon is not running",
        hint: "start it: sudo systemctl enable --now regent.socket; without systemd, run regent daemon",
        code: "no-daemon")
    }
    guard let answer = try? JSONValue(reading: response.body) else { throw unreadable }
    guard response.status.isSuccess else { throw CommandError(answer) ?? unreadable }
    return answer
  }

  private func sentence(about error: ClientError) -> CommandError {
    guard case .timedOut = error.kind else { return CommandError(error.description, hint: error.hint, code: "daemon") }
    return CommandError(
      "the daemon on \(places.last ?? "") does not answer",
      hint: "find the reason with sudo regent doctor, then restart the daemon: sudo systemctl restart regent",
      code: "daemon")
  }

  private func call(
    _ method: RegentHTTPCodec.Method, _ target: String, _ body: JSONValue? = nil, within deadline: Duration = deadline
  ) async throws(ClientError) -> ClientResponse {
    for place in places.dropLast() {
      do throws(ClientError) {
        return try await call(method, target, body, at: place, within: deadline)
      } catch {
        guard error.isAbsence else { throw error }
      }
    }
    return try await call(method, target, body, at: places.last ?? "", within: deadline)
  }

  private func call(
    _ method: RegentHTTPCodec.Method, _ target: String, _ body: JSONValue?, at place: String, within deadline: Duration
  ) async throws(ClientError) -> ClientResponse {
    var request = ClientRequest(
      method, try ClientURL(unixSocket: place, target: target), body: body?.bytes() ?? [])
    request.deadline = deadline
    if body != nil { request.addHeader(.contentType, "application/json") }
    let response = try await client.send(request)
    // Status 503 comes from the HTTP server when it has too many connections; the daemon itself never sends it.
    guard response.status != .serviceUnavailable else {
      throw ClientError(
        .system("the daemon on \(place) is overloaded: try again in a few seconds"),
        request.url.origin)
    }
    return response
  }
}

extension ClientError {
  /// Whether the error means that no process listens on the socket.
  fileprivate var isAbsence: Bool {
    switch kind {
    case .unreachable(.noSocket), .unreachable(.refused): true
    default: false
    }
  }
}
