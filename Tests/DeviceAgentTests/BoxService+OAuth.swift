import HTTPServer
import PairingStore
import RegentCryptography
import RegentHTTPCodec
import RegentJSON
import RegentOAuth
import RegentPairing
import RegentPlatform
import ServiceTestSupport
import TestSupport

@testable import DeviceAgent
@testable import PairingService

extension BoxService {
  /// Adds a public OAuth client as an operator does, and returns its id.
  func addOAuthClient() async throws -> String {
    let id = Random.uuid()
    let metadata = try ClientMetadata(reading: [
      "client_name": "regent", "token_endpoint_auth_method": "none", "id_token_signed_response_alg": "ES256",
    ])
    let now = service.core.clock.now
    try await service.core.store.put(
      OAuthClientRecord(
        id: try named(id), requestor: try named(Sample.requestor), origin: .operator, name: "regent", secret: nil,
        metadata: String(decoding: metadata.json.bytes(), as: UTF8.self), audience: nil, created: now),
      replacing: nil, in: .unlimited, audit: nil, at: now)
    return id
  }

  var issuer: String { url + "/oauth" }

  /// The number of refreshes so far.
  var refreshes: Int { service.core.metrics.now.counts[.grantsRefreshed] ?? 0 }
}

extension Box {
  /// Adds the service as an OAuth server of the box.
  func addOAuth(_ service: BoxService, name: String = "tv", more: [String] = []) async throws {
    let added = try await run(
      ["oauth", "add", name, "--issuer", service.issuer, "--client-id", try await service.addOAuthClient()] + more)
    guard added.status == 0 else { throw TestSupportError("not added: \(added.errorText)") }
  }

  /// Pairs with the OAuth server; the viewer approves.
  func pairOAuth(_ service: BoxService, name: String = "tv", output: String = "out") async throws {
    let pairing = try start(["oauth", "pair", name, "--json"], output: output)
    try await service.service.approve(try await code(in: output))
    let status = try await eventually("the end of the sign-in") { pairing.poll() }
    guard status == 0 else { throw TestSupportError("not signed in: \(printed(output))\(printed("\(output).err"))") }
  }

  func code(in output: String) async throws -> String {
    guard let code = try await event("code", in: output)["code"]?.string else { throw TestSupportError("no code") }
    return code
  }

  /// Makes the stored tokens older by so many seconds, so that a test need not wait for their expiry.
  func age(_ name: String = "tv", by seconds: Int64) throws {
    let path = "\(folder)/state/oauth/\(name)/tokens"
    var tokens = try kept(name)
    tokens.received.boot -= seconds * 1000
    tokens.received.wall -= seconds * 1000
    // On a machine that booted more recently than that, the tokens are marked as from an earlier boot.
    if tokens.received.boot < 0 {
      tokens.received.boot = 0
      tokens.received.run = "an earlier one"
    }
    try DurableFile.write(tokens.document.bytes(), to: path)
  }

  func kept(_ name: String = "tv") throws -> KeptTokens {
    guard let tokens = KeptTokens(try JSONValue(reading: try readFile("\(folder)/state/oauth/\(name)/tokens"))) else {
      throw TestSupportError("no tokens")
    }
    return tokens
  }
}

/// A scripted OAuth server that counts the requests to each path.
final class HostileServer: Sendable {
  struct Said: Sendable {
    var status: UInt16 = 200
    var body: String
    var headers: [(HeaderName, String)] = []
  }

  private final class Answers: Sendable {
    let said = Locked<[String: Said]>([:])
    let counts = Locked<[String: Int]>([:])

    func answer(_ request: Request) -> Answer {
      let path = String(decoding: request.path, as: UTF8.self)
      counts.withLock { $0[path, default: 0] += 1 }
      guard let said = said.withLock({ $0[path] }) else { return .now(Response(.notFound)) }
      var response = Response(Status(said.status), type: "application/json", body: Array(said.body.utf8))
      for (name, value) in said.headers { response.addHeader(name, value) }
      return .now(response)
    }
  }

  let url: String
  private let server: Server
  private let answers = Answers()

  init() throws {
    let port = try freePort()
    url = "http://127.0.0.1:\(port)"
    var routes = Routes()
    let answers = answers
    for path in ["/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"] {
      routes.get(path) { request, _ in answers.answer(request) }
    }
    for path in ["/device", "/token", "/revoke"] { routes.post(path) { request, _ in answers.answer(request) } }
    let router = try Router(routes) { _, refusal in Response(refusal.status) }
    server = try Server(
      [Listener(.network(.loopback, port: port), handler: router)], configuration: ServerConfiguration())
  }

  func stop() { server.stop(within: .milliseconds(100)) }

  func count(_ path: String) -> Int { answers.counts.withLock { $0[path] ?? 0 } }

  func say(_ path: String, _ body: String, status: UInt16 = 200, headers: [(HeaderName, String)] = []) {
    answers.said.withLock { $0[path] = Said(status: status, body: body, headers: headers) }
  }

  /// Sets valid metadata, with changed members.
  func document(_ changes: JSONObject = [:]) {
    var object: JSONObject = [
      "issuer": .string(url), "device_authorization_endpoint": .string(url + "/device"),
      "token_endpoint": .string(url + "/token"), "revocation_endpoint": .string(url + "/revoke"),
    ]
    for member in changes.members { object[member.name] = member.value }
    say("/.well-known/openid-configuration", String(decoding: object.bytes(), as: UTF8.self))
  }

  /// Sets a valid response with a device code, with changed members.
  func code(_ changes: JSONObject = [:]) {
    var object: JSONObject = [
      "device_code": "device-1", "user_code": "WDJB-MJHT", "verification_uri": "https://login.example.org/device",
      "expires_in": 600, "interval": 1,
    ]
    for member in changes.members { object[member.name] = member.value }
    say("/device", String(decoding: object.bytes(), as: UTF8.self))
  }
}
