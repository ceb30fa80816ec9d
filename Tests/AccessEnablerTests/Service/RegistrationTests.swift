import RegentHTTPCodec
import HTTPServer
import HTTPTestSupport
import RegentPlatform
import TestSupport
import Testing

@testable import AccessEnabler

/// Client registration with a scripted service: each documented response and status pair.
@Suite("Client registration with a software statement")
struct RegistrationTests {
  @Test(arguments: [(UInt16(201), UInt16(200)), (200, 201), (201, 201)])
  func `a software statement registers once and its token is renewed`(
    register: UInt16, token: UInt16
  ) async throws {
    let registry = try Registry(registered: register, granted: token)
    defer { startThread { registry.server.stop() } }
    try await withTemporaryFolder { folder in
      let storage = TokenStorage.folder("\(folder)/state")
      let enabler = try AccessEnabler(softwareStatement: "statement", storage: storage)
      try await enabler.configure(requestor: "SPORT", services: [registry.url])
      #expect(registry.count("/o/client/register") == 1)
      #expect(registry.count("/o/client/token") == 1)
      // The service forgets the token: the SDK fetches another one for the same client.
      registry.forgetTokens()
      try await enabler.configure(requestor: "SPORT", services: [registry.url])
      #expect(registry.count("/o/client/register") == 1)
      #expect(registry.count("/o/client/token") == 2)
      // Another process of the same installation uses the same client.
      let other = try AccessEnabler(softwareStatement: "statement", storage: storage)
      try await other.configure(requestor: "SPORT", services: [registry.url])
      #expect(registry.count("/o/client/register") == 1)
      let another = try AccessEnabler(softwareStatement: "another", storage: storage)
      try await another.configure(requestor: "SPORT", services: [registry.url])
      #expect(registry.count("/o/client/register") == 2)
    }
  }

  @Test func `registration requests carry the options as every other call does`() async throws {
    let registry = try Registry()
    defer { startThread { registry.server.stop() } }
    let enabler = try AccessEnabler(softwareStatement: "statement", storage: .memory)
    enabler.setOptions(EnablerOptions(applicationProfile: "kids", visitorID: "v-1"))
    try await enabler.configure(requestor: "SPORT", services: [registry.url])
    let options = registry.options
    #expect(options.count >= 3)
    #expect(options.allSatisfy { $0 == "applicationProfile=kids v-1" }, "\(options)")
  }

  @Test(arguments: [Int.max, .max / 1_000, 10_000_000_000])
  func `an access token with a huge lifetime does not overflow its expiry and is fetched only once`(lifetime: Int)
    async throws
  {
    let registry = try Registry(lifetime: lifetime)
    defer { startThread { registry.server.stop() } }
    let enabler = try AccessEnabler(softwareStatement: "statement", storage: .memory)
    try await enabler.configure(requestor: "SPORT", services: [registry.url])
    try await enabler.configure(requestor: "SPORT", services: [registry.url])
    #expect(registry.count("/o/client/token") == 1)
  }

  @Test func `a client that the service removed is registered again`() async throws {
    let registry = try Registry()
    defer { startThread { registry.server.stop() } }
    let enabler = try AccessEnabler(softwareStatement: "statement", storage: .memory)
    try await enabler.configure(requestor: "SPORT", services: [registry.url])
    registry.forgetClients()
    try await enabler.configure(requestor: "SPORT", services: [registry.url])
    #expect(registry.count("/o/client/register") == 2)
  }

  @Test(arguments: [
    "invalid_software_statement", "unapproved_software_statement", "invalid_request",
  ])
  func `a refused software statement ends with R400`(reason: String) async throws {
    let registry = try Registry(refusal: reason)
    defer { startThread { registry.server.stop() } }
    let recorder = Recorder()
    let enabler = try AccessEnabler(
      softwareStatement: "statement", storage: .memory, delegate: recorder)
    await #expect {
      try await enabler.configure(requestor: "SPORT", services: [registry.url])
    } throws: { error in
      (error as? EntitlementError)?.status == .registrationFailed
    }
    try await recorder.wait(for: "setRequestorComplete 0")
    #expect(recorder.lines.first == "status R400 \(reason)")
  }

  @Test func `a refused access token ends with R401`() async throws {
    let registry = try Registry(tokenRefusal: "unauthorized_client")
    defer { startThread { registry.server.stop() } }
    let enabler = try AccessEnabler(softwareStatement: "statement", storage: .memory)
    await #expect {
      try await enabler.configure(requestor: "SPORT", services: [registry.url])
    } throws: { error in
      (error as? EntitlementError)?.status == .accessTokenFailed
    }
    #expect(registry.count("/o/client/register") == 1)
  }

  @Test func `the SDK does not request access tokens in a loop from a service that accepts none`() async throws {
    let registry = try Registry(acceptsNothing: true)
    defer { startThread { registry.server.stop() } }
    let enabler = try AccessEnabler(softwareStatement: "statement", storage: .memory)
    await #expect {
      try await enabler.configure(requestor: "SPORT", services: [registry.url])
    } throws: { error in
      (error as? EntitlementError)?.status == .notTrusted
    }
    #expect(registry.count("/o/client/token") == 3)
  }
}

/// A service that registers clients and has an empty list of providers.
private final class Registry: Sendable {
  let server: Server
  let url: String
  private let state: Book

  private final class Book: Sendable {
    struct Pages: Sendable {
      var calls: [String] = []
      var options: [String] = []
      var clients: Set<String> = []
      var tokens: Set<String> = []
      var last = 0
    }
    let pages = Locked(Pages())
  }

  init(
    registered: UInt16 = 201, granted: UInt16 = 200, refusal: String? = nil,
    tokenRefusal: String? = nil, acceptsNothing: Bool = false, lifetime: Int = 21_600
  ) throws {
    let book = Book()
    state = book
    let handler = ClosureHandler { request in
      let path = String(decoding: request.path, as: UTF8.self)
      let body = String(decoding: request.body, as: UTF8.self)
      return .now(
        book.pages.withLock { pages -> Response in
          pages.calls.append(path)
          let query = String(decoding: request.query ?? [], as: UTF8.self)
          let option = query.split(separator: "&").first { $0.hasPrefix("applicationProfile=") } ?? ""
          let visitor = request.header(HeaderName(literal: "AP-Visitor-Identifier")) ?? ""
          pages.options.append("\(option) \(visitor)")
          switch path {
          case "/o/client/register":
            if let refusal { return json(400, #"{"error":"\#(refusal)"}"#) }
            guard body.contains("software_statement") else {
              return json(400, #"{"error":"invalid_request"}"#)
            }
            pages.last += 1
            pages.clients.insert("client-\(pages.last)")
            return json(
              registered,
              #"{"client_id":"client-\#(pages.last)","client_secret":"s","client_id_issued_at":1}"#)
          case "/o/client/token":
            if let tokenRefusal { return json(400, #"{"error":"\#(tokenRefusal)"}"#) }
            guard pages.clients.contains(where: { body.contains("client_id=\($0)&") }) else {
              return json(400, #"{"error":"invalid_client"}"#)
            }
            pages.last += 1
            if !acceptsNothing { pages.tokens.insert("Bearer token-\(pages.last)") }
            return json(
              granted,
              #"{"id":"1","access_token":"token-\#(pages.last)","created_at":1,"expires_in":\#(lifetime),"token_type":"bearer"}"#
            )
          default:
            guard let header = request.header(.authorization), pages.tokens.contains(header) else {
              return json(401, #"{"status":401,"message":"Not Authorized","details":null}"#)
            }
            guard path.hasPrefix("/api/v1/config/") else {
              return json(404, #"{"status":404,"message":"Not Found","details":null}"#)
            }
            return json(200, #"{"requestor":{"id":"SPORT","mvpds":[]}}"#)
          }
        })
    }
    var configuration = ServerConfiguration()
    configuration.loops = 1
    server = try Server(
      [Listener(.network(.loopback, port: 0), handler: handler)], configuration: configuration)
    url = "http://\(server.addresses[0])"
  }

  var options: [String] { state.pages.withLock { $0.options } }

  func count(_ path: String) -> Int {
    state.pages.withLock { pages in pages.calls.count { $0 == path } }
  }

  func forgetTokens() { state.pages.withLock { $0.tokens = [] } }

  func forgetClients() {
    state.pages.withLock { pages in
      pages.clients = []
      pages.tokens = []
    }
  }
}

private func json(_ status: UInt16, _ text: String) -> Response {
  Response(Status(status), type: "application/json", body: Array(text.utf8))
}
