import CommandKit
import HTTPServer
import RegentHTTPCodec
import RegentJSON
import RegentPlatform
import Testing

@testable import DeviceAgent

@Suite struct `The header permission of agent.conf` {
  private static let lines = [
    "user:1 header status", "user:2 header token=sport-* preauthorize=sport-*", "user:3 header token=* preauthorize",
    "user:4 header metadata pair logout sso", "user:5 header=GET:/api/v1/tokens/* token", "user:6 status token logout",
  ]

  @Test(
    arguments: [
      (1, "GET", "/api/v1/tokens/authn", true),
      (1, "get", "https://tv.example/pair/api/v1/tokens/authn.json?x=1", true),
      (1, "GET", "/api/v1/checkauthn", true), (1, "GET", "/api/v1/config/acme.xml", true),
      (1, "GET", "/api/v1/authorize", false), (1, "GET", "/api/v1/authorize.json", false),
      (1, "GET", "/api/v1/tokens/authz", false), (1, "GET", "/api/v1/tokens/media", false),
      (1, "GET", "/api/v1/mediatoken", false), (1, "GET", "/api/v1/preauthorize", false),
      (1, "GET", "/api/v1/tokens/usermetadata", false), (1, "POST", "/reggie/v1/acme/regcode", false),
      (1, "POST", "/api/v1/authenticate/freepreview", false),
      // The service accepts a header for every path that ends with the signed one.
      (1, "GET", "/media", false), (1, "GET", "/authorize", false), (1, "DELETE", "/logout", false),
      (1, "GET", "/api/v1/config/x/../../logout", false), (1, "GET", "/api/v1/config/..", false),
      (1, "GET", "/api/v1/%6cogout", false), (1, "GET", "/api/v1//tokens/authn", false),
      (1, "GET", "/api/v1/tokens/authn/", false), (1, "GET", "/API/V1/TOKENS/AUTHN", false),
      (1, "POST", "/api/v1/tokens/authn", false), (1, "PATCH", "/api/v1/tokens/authn", false),
      (2, "GET", "/api/v1/authorize", false), (2, "GET", "/api/v1/preauthorize", false),
      (3, "GET", "/api/v1/authorize", true), (3, "GET", "/api/v1/tokens/media.xml", true),
      (3, "GET", "/api/v1/preauthorize", true), (3, "GET", "/api/v1/tokens/usermetadata", false),
      (4, "GET", "/api/v1/tokens/usermetadata", true), (4, "POST", "/reggie/v1/acme/regcode", true),
      (4, "DELETE", "/reggie/v1/acme/regcode/BCDFGHJK", true), (4, "GET", "/api/v1/authorize", false),
      (4, "DELETE", "/api/v1/logout", false), (4, "GET", "/api/v1/logout.json", false),
      (4, "POST", "/api/v1/tokens/authn", false), (4, "POST", "/api/v1/platform/key", false),
      (4, "POST", "/api/v1/platform/permission", false), (4, "GET", "/api/v1/platform/permissions", false),
      (4, "GET", "/api/v1/acme/profile-requests/cable", false), (4, "GET", "/api/v2/anything", false),
      (5, "GET", "/api/v1/tokens/authn", true), (5, "GET", "/api/v1/tokens/media", true),
      (5, "GET", "/api/v1/checkauthn", false), (6, "GET", "/api/v1/tokens/authn", false),
      (0, "GET", "/api/v1/x", true), (1_000, "DELETE", "/api/v1/logout", true),
    ] as [(UInt32, String, String, Bool)])
  func `a user gets signed headers only for the calls that the allow line grants`(
    user: UInt32, method: String, path: String, isGiven: Bool
  ) async throws {
    let body: JSONValue = ["method": .string(method), "path": .string(path)]
    let response = try await Self.ask("POST", "/v1/header", body.bytes(), as: user)
    #expect(response.status == (isGiven ? .ok : .forbidden))
    let answer = try JSONValue(reading: response.body)
    #expect(answer["header"]?.string == (isGiven ? "\(method) \(path)" : nil))
  }

  @Test func `a refusal names the missing permission or says that no permission grants the call`() async throws {
    func hint(_ user: UInt32, _ method: String, _ path: String) async throws -> String? {
      let body: JSONValue = ["method": .string(method), "path": .string(path)]
      let response = try await Self.ask("POST", "/v1/header", body.bytes(), as: user)
      return try JSONValue(reading: response.body)["error"]?["hint"]?.string
    }
    let end = "; then run systemctl restart regent"
    #expect(
      try await hint(2, "GET", "/api/v1/authorize")
        == "add to /etc/regent/agent.conf: allow = user:\(Accounts.title(of: 2)) header token=*" + end)
    #expect(
      try await hint(5, "GET", "/api/v1/checkauthn")
        == "add to /etc/regent/agent.conf: allow = user:\(Accounts.title(of: 5)) header=GET:/api/v1/checkauthn" + end)
    #expect(try await hint(4, "DELETE", "/api/v1/logout")?.hasPrefix("only root may sign this request; ") == true)
    #expect(
      try await hint(6, "DELETE", "/api/v1/logout")
        == "add to /etc/regent/agent.conf: allow = user:\(Accounts.title(of: 6)) header" + end)
  }

  @Test(arguments: [(0, true), (1_000, true), (1, true), (6, false)] as [(UInt32, Bool)])
  func `the status contains the device id only with the header permission`(user: UInt32, hasID: Bool) async throws {
    let response = try await Self.ask("GET", "/v1/status", [], as: user)
    #expect(response.status == .ok)
    let answer = try JSONValue(reading: response.body)
    #expect(answer["deviceId"]?.string == (hasID ? "the-device" : nil))
    #expect(answer["requestor"]?.string == "acme")
  }

  @Test(arguments: [
    "header=", "header=*", "header=/api/v1/tokens/authn", "header=PUT:/x", "header=GET:x", "header=GET:/api/v1/logout",
    "header=DELETE:/api/v1/logout", "header=POST:/api/v1/platform/key", "header=POST:/api/v1/tokens/authn",
  ])
  func `agent.conf is refused if a permission for signed headers names no call that may be granted`(word: String) {
    #expect(throws: CommandError.self) { try AllowRule(parsing: "user:1 \(word)", in: "agent.conf line 1") }
  }

  @Test func `doctor describes what each allow line grants`() throws {
    let rule = try AllowRule(parsing: "user:1 token=sport-* header=GET:/api/v1/tokens/* logout", in: "x")
    let finding = DoctorChecks.permissions(rule)
    #expect(finding.subject == "allow user:1")
    #expect(
      finding.sentence == "media tokens (token=sport-*); signed headers for ordinary calls, and the box's device id "
        + "(header=GET:/api/v1/tokens/*); signing the box out (logout)")
  }

  private static func ask(_ method: String, _ path: String, _ body: [UInt8], as user: UInt32) async throws -> Response {
    let rules = try lines.map { try AllowRule(parsing: $0, in: "x") }
    let daemon = DaemonServer(EchoingSource(), allowRules: rules, owner: 1_000) { _ in }
    let head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.count)\r\n\r\n"
    let peer = Peer.local(Credentials(process: 1, user: user, group: user, supplementaryGroups: []))
    let request = try Request(head: Array(head.utf8), body: body, peer: peer)
    return try await answered(try daemon.router().handle(request))
  }
}

/// A source whose headers contain the method and path that they are for.
private struct EchoingSource: EntitlementSource {
  func status() async throws(CommandError) -> AgentStatus {
    AgentStatus(requestor: "acme", deviceID: "the-device")
  }
  func header(method: String, path: String) async throws(CommandError) -> String { "\(method) \(path)" }
  func authorize(_ resource: String, data: [String: String]) async throws(CommandError) -> MediaGrant {
    MediaGrant(resource: resource, token: "t", expires: 1, provider: "p")
  }
  func providers() async throws(CommandError) -> [ProviderEntry] { [] }
  func preauthorize(_ resources: [String]) async throws(CommandError) -> [String] { resources }
  func metadata(_ key: String) async throws(CommandError) -> JSONValue { .null }
  func signOut() async throws(CommandError) -> SignOutEnd { .told }
}
