public import RegentHTTPCodec
public import HTTPServer
internal import RegentPlatform
internal import TestSupport

/// Sends requests to a handler, directly or through a server, so that one test can check both.
public protocol TestClient: Sendable {
  func send(_ request: TestRequest) async throws -> TestResponse
}

extension TestClient {
  public func get(
    _ target: String, headers: [(name: String, value: String)] = []
  ) async throws -> TestResponse {
    try await send(TestRequest("GET", target, headers: headers))
  }

  /// Sends a form with POST.
  public func post(
    _ target: String, form: [(name: String, value: String)] = [],
    headers: [(name: String, value: String)] = []
  ) async throws -> TestResponse {
    let type = (name: "Content-Type", value: "application/x-www-form-urlencoded")
    return try await send(
      TestRequest(
        "POST", target, headers: [type] + headers, body: Array(PercentEncoding.form(form).utf8)))
  }
}

public enum TestTransport: Sendable, CaseIterable, CustomStringConvertible {
  case inProcess
  case socket

  public var description: String { self == .inProcess ? "in-process" : "over a socket" }

  /// Runs `body` with a client of `handler`.
  ///
  /// A server that this needs is stopped afterwards.
  public func withClient<Result>(
    of handler: some Handler, isolation: isolated (any Actor)? = #isolation,
    _ body: (any TestClient) async throws -> Result
  ) async throws -> Result {
    switch self {
    case .inProcess:
      return try await body(InProcessClient(handler))
    case .socket:
      var configuration = ServerConfiguration()
      configuration.loops = 1
      let listener = Listener(.network(.loopback, port: 0), handler: handler)
      let server = try Server([listener], configuration: configuration)
      do {
        let result = try await body(SocketClient(server.addresses[0]))
        await offPool { server.stop() }
        return result
      } catch {
        await offPool { server.stop() }
        throw error
      }
    }
  }
}

/// Calls a handler directly.
///
/// Its reply is serialized by the same code as on a socket.
///
/// All requests belong to one connection: a value that the handler remembers comes back with the next request.
public struct InProcessClient: TestClient {
  private let handler: any Handler
  private let peer: Peer
  private let isTLS: Bool
  private let memory = Memory()

  private final class Memory: Sendable {
    let remembered = Locked<(any AnyObject & Sendable)?>(nil)
  }

  /// Creates a client whose requests seem to come from `peer`.
  public init(
    _ handler: any Handler, peer: Peer = .network(.loopback, port: 1), isTLS: Bool = false
  ) {
    self.handler = handler
    self.peer = peer
    self.isTLS = isTLS
  }

  public func send(_ test: TestRequest) async throws -> TestResponse {
    let bytes = try await wireBytes(test)
    var rest = bytes
    guard
      let response = try TestResponse.take(
        from: &rest, toHead: test.method == "HEAD", isEnded: true),
      rest.isEmpty
    else { throw NotAResponse(description: String(decoding: bytes.prefix(200), as: UTF8.self)) }
    return response
  }

  private func wireBytes(_ test: TestRequest) async throws -> [UInt8] {
    var request: Request
    do {
      request = try Request(head: test.head, body: test.body, peer: peer, isTLS: isTLS)
    } catch {
      let refusal = Response.text(error.status, error.description)
      return refusal.wireBytes(toHead: test.method == "HEAD")
    }
    request.remembered = memory.remembered.withLock { $0 }
    let response: Response
    switch handler.handle(request) {
    case .now(let immediate):
      response = immediate
      if let remembered = response.remembered { memory.remembered.withLock { $0 = remembered } }
    case .later(let start):
      memory.remembered.withLock { $0 = nil }
      response = try await awaitingCallback("the answer to \(test.method) \(test.target)") { callback in
        start(PendingReply { callback($0) })
      }
    }
    return response.wireBytes(toHead: request.method == .head)
  }
}

/// Sends each request over its own connection.
public struct SocketClient: TestClient {
  private let address: ListenAddress

  public init(_ address: ListenAddress) {
    self.address = address
  }

  public func send(_ request: TestRequest) async throws -> TestResponse {
    let outcome = await offPool {
      Result<TestResponse, any Error> {
        let connection = try WireConnection(address)
        try connection.send(request.head + request.body)
        return try connection.response(toHead: request.method == "HEAD")
      }
    }
    return try outcome.get()
  }
}
