import RegentHTTPCodec
import HTTPServer
import HTTPTestSupport
import PairingService
import RegentPlatform
import ServiceTestSupport
import TestSupport

/// A complete service in the test's process behind a real socket, for tests of faults.
///
/// Its responses can be replaced, and its server can be stopped and restarted during a call.
final class LocalService: ServiceUnderTest {
  let service: TestService
  let url: String
  let requestor = Sample.requestor
  let publicKey = Sample.publicKey
  let secret = Sample.secret
  private let port: UInt16
  private let server: Locked<Server?>

  init(gate: (@Sendable (Request) -> Response?)? = nil) async throws {
    service = try await TestService(usesMachineClock: true)
    let (server, bound) = try Self.start(service, port: try freePort(), gate)
    self.port = bound
    self.server = Locked(server)
    url = "http://127.0.0.1:\(bound)"
  }

  private static func start(
    _ service: TestService, port: UInt16, _ gate: (@Sendable (Request) -> Response?)?
  ) throws -> (Server, UInt16) {
    let router = try service.router()
    let handler = ClosureHandler { request in
      if let response = gate?(request) { return .now(response) }
      return router.handle(request)
    }
    var configuration = ServerConfiguration()
    configuration.loops = 1
    let server = try Server(
      [Listener(.network(.loopback, port: port), handler: handler)], configuration: configuration)
    guard case .network(_, let bound) = server.addresses[0] else {
      throw TestSupportError("no port")
    }
    return (server, bound)
  }

  func approve(_ code: String) async throws { try await service.approve(code) }

  /// Stops the server at once, without waiting for requests under way.
  func kill() async {
    let server = server.withLock { server in
      defer { server = nil }
      return server
    }
    guard let server else { return }
    await offPool { server.stop(within: .zero) }
  }

  func startAgain(gate: (@Sendable (Request) -> Response?)? = nil) async throws {
    let server = try Self.start(service, port: port, gate).0
    self.server.withLock { $0 = server }
  }
}
