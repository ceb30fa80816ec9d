import CommandKit
import HTTPClient
import HTTPCodec
import JSON
import Platform

/// The daemon's answers, over its socket.
struct DaemonClient: EntitlementSource {
  private let client: Client
  private let socket: String

  /// Authorizing may take a provider half a minute.
  private static let deadline = Duration.seconds(60)

  private init(socket: String) {
    self.socket = socket
    client = Client(ClientConfiguration(wallClock: { Clocks.wallMilliseconds() }))
  }

  /// The daemon that answers first among the places; `nil` when none runs.
  static func find(_ places: [String]) async throws(CommandError) -> DaemonClient? {
    for place in places {
      let daemon = DaemonClient(socket: place)
      do throws(ClientError) {
        _ = try await daemon.call(.get, "/v1/alive")
        return daemon
      } catch {
        switch error.kind {
        case .unreachable(.noSocket), .unreachable(.refused): continue
        // The socket is there and its owner does not want us: our own tokens would be somebody else's.
        default: throw CommandError(error.description, hint: error.hint, code: "daemon")
        }
      }
    }
    return nil
  }

  func status() async throws(CommandError) -> AgentStatus {
    guard let status = AgentStatus(try await ask(.get, "/v1/status")) else { throw Self.unreadable }
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

  func authorize(_ resource: String) async throws(CommandError) -> MediaGrant {
    let answer = try await ask(.post, "/v1/authorize", ["resource": .string(resource)])
    guard let grant = MediaGrant(answer) else { throw Self.unreadable }
    return grant
  }

  func metadata(_ key: String) async throws(CommandError) -> JSONValue {
    let answer = try await ask(.post, "/v1/metadata", ["key": .string(key)])
    return answer["value"] ?? .null
  }

  func header(method: String, path: String) async throws(CommandError) -> String {
    let body: JSONValue = ["method": .string(method), "path": .string(path)]
    guard let header = try await ask(.post, "/v1/header", body)["header"]?.string else {
      throw Self.unreadable
    }
    return header
  }

  func signOut() async throws(CommandError) { _ = try await ask(.post, "/v1/logout", [:]) }

  private static let unreadable = CommandError(
    "the daemon gave an answer that cannot be read",
    hint: "the daemon is of another version: systemctl restart regent", code: "daemon")

  private func ask(
    _ method: HTTPCodec.Method, _ target: String, _ body: JSONValue? = nil
  ) async throws(CommandError) -> JSONValue {
    let response: ClientResponse
    do throws(ClientError) {
      response = try await call(method, target, body)
    } catch {
      throw CommandError(error.description, hint: error.hint, code: "daemon")
    }
    guard let answer = try? JSONValue(reading: response.body) else { throw Self.unreadable }
    guard response.status.isSuccess else { throw CommandError(answer) ?? Self.unreadable }
    return answer
  }

  private func call(
    _ method: HTTPCodec.Method, _ target: String, _ body: JSONValue? = nil
  ) async throws(ClientError) -> ClientResponse {
    var request = ClientRequest(
      method, try ClientURL(unixSocket: socket, target: target), body: body?.bytes() ?? [])
    request.deadline = Self.deadline
    if body != nil { request.addHeader(.contentType, "application/json") }
    let response = try await client.send(request)
    // What the socket itself says to one program too many; the daemon has other words.
    guard response.status != .serviceUnavailable else {
      throw ClientError(
        .system("the daemon has too much to do on \(socket): try again in a few seconds"),
        request.url.origin)
    }
    return response
  }
}
