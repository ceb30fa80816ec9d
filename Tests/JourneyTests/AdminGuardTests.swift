import Administration
import RegentHTTPCodec
import HTTPServer
import HTTPTestSupport
import RegentJSON
import RegentPairing
import PairingService
import PairingStore
import ServiceTestSupport
import TestSupport
import Testing

@Suite struct `The admin socket` {
  @Test(
    arguments: [
      (0, 0, [], true), (1000, 1000, [], true), (1001, 1001, [], false), (1001, 77, [], true),
      (1001, 1001, [5, 77], true), (1001, 1001, [5], false),
    ] as [(UInt32, UInt32, [UInt32], Bool)])
  func `the admin socket admits root, the user of the service and members of one group`(
    user: UInt32, group: UInt32, others: [UInt32], isAdmitted: Bool
  ) async throws {
    let admin = try await Admin(ownUser: 1000, group: 77)
    let peer = Credentials(process: 1, user: user, group: group, supplementaryGroups: others)
    let answer = try await admin.send("GET", "/v1/requestors", from: .local(peer))
    #expect(answer.status == (isAdmitted ? 200 : 403))
    guard !isAdmitted else { return }
    let error = try AdminError(value: try JSONValue(reading: answer.body), named: "answer")
    #expect(error.code == .notAllowed)
    #expect(error.message.contains("may not use the admin socket"))
  }

  @Test func `without a configured group, strangers and network peers are refused`() async throws {
    let admin = try await Admin(ownUser: 1000, group: nil)
    let stranger = Credentials(process: 1, user: 5, group: 0, supplementaryGroups: [0, 77])
    for path in ["/v1/requestors", "/metrics", "/nothing", "/v1/backups/x"] {
      #expect(try await admin.send("GET", path, from: .local(stranger)).status == 403)
      let network = Peer.network(.loopback, port: 1)
      #expect(try await admin.send("GET", path, from: network).status == 403)
    }
  }

  @Test(arguments: ["/v1/nothing", "/v1/requestors/a%2fb", "/v1/requestors/..", "/v2/stats"])
  func `an unknown path is answered with an error document`(path: String) async throws {
    let admin = try await Admin()
    let answer = try await admin.send("GET", path)
    #expect(answer.status == 404 || answer.status == 400)
    _ = try AdminError(value: try JSONValue(reading: answer.body), named: "answer")
  }

  @Test(arguments: [
    ("PUT", "/v1/requestors/x", "["), ("PUT", "/v1/requestors/x", "[]"),
    ("PUT", "/v1/requestors/x", ""), ("PUT", "/v1/requestors/x", #"{"id":"y"}"#),
    ("PUT", "/v1/requestors/x", #"{"name":7}"#), ("PUT", "/v1/requestors/x", #"{"a":1}"#),
    ("PUT", "/v1/providers/x", "{}"), ("PUT", "/v1/providers/x", #"{"kind":"other"}"#),
    ("PUT", "/v1/providers/x", #"{"kind":"temporary","lifetimeMs":-1}"#),
    ("PATCH", "/v1/requestors/REF30/integrations/local", #"{"preauthorizationLimit":1e30}"#),
    ("GET", "/v1/audit?after=-1", ""), ("GET", "/v1/audit?after=x", ""),
    ("GET", "/v1/sign-ins?limit=0", ""), ("GET", "/v1/sign-ins?limit=1&limit=2", ""),
    ("GET", "/v1/devices", ""), ("PUT", "/v1/providers/local/account?name=x", #"{"password":1}"#),
    ("POST", "/v1/codes/BCDFGHJK/approve", "{}"), ("POST", "/v1/tokens/verify", "{}"),
    ("POST", "/v1/temporary-passes/reset", #"{"requestor":"REF30"}"#),
  ])
  func `a malformed request is refused and changes nothing`(
    method: String, target: String, body: String
  ) async throws {
    let admin = try await Admin()
    let before = try await admin.service.core.store.provisioning()
    let answer = try await admin.send(method, target, body)
    #expect(answer.status == 400 || answer.status == 404, "\(answer.status) \(answer.text)")
    _ = try AdminError(value: try JSONValue(reading: answer.body), named: "answer")
    #expect(try await admin.service.core.store.provisioning() == before)
  }

  @Test func `each change is written to the audit log with the name of the operator`() async throws {
    let admin = try await Admin()
    _ = try await admin.send("PUT", "/v1/requestors/acme", #"{"name":"Acme"}"#)
    _ = try await admin.send("POST", "/v1/requestors/acme/keys")
    _ = try await admin.send("DELETE", "/v1/requestors/acme")
    let lines = try await admin.service.core.store.audit(after: 0, limit: 100).map(\.entry)
    #expect(
      lines.map(\.action).filter { !$0.hasPrefix("code") } == [
        "requestor.add", "key.issue", "key.issue", "requestor.remove",
      ])
    for line in lines {
      guard case .operator(let name) = line.actor else {
        Issue.record("the line names no operator: \(line)")
        continue
      }
      #expect(name.text == "root")
    }
  }

  @Test func `doctor warns when the service has no recent backup`() async throws {
    let admin = try await Admin()
    func finding(after days: Int) async throws -> [Finding] {
      let made = admin.service.clock.now - .seconds(days * 86_400)
      try await admin.service.core.store.keepNumbers(String(made.milliseconds), as: .backup)
      return try await backups()
    }
    func backups() async throws -> [Finding] {
      let answer = try await admin.send("GET", "/v1/doctor")
      let all = try #require(try JSONValue(reading: answer.body).array)
      return try all.map { try Finding(value: $0, named: "finding") }.filter {
        $0.check == "backup"
      }
    }
    let none = try await backups().map(\.detail)
    #expect(none == ["this service has never been backed up"])
    let fresh = try await finding(after: 0).map(\.status)
    #expect(fresh == [.good])
    let recent = try await finding(after: 6).map(\.status)
    #expect(recent == [.good])
    let old = try #require(try await finding(after: 8).first)
    #expect(old.status == .warning && old.detail.contains("8 days old"), "\(old)")
    #expect(old.fix?.hasPrefix("run regentctl backup") == true)
  }

  @Test func `a box sees the decision of an operator with its next request`() async throws {
    let admin = try await Admin()
    let client = InProcessClient(try admin.service.router())
    let made = try await admin.service.call(
      client, "POST", "/reggie/v1/REF30/regcode.json?deviceId=box")
    let code = try #require(try JSONValue(reading: made.body)["code"]?.string)
    let approved = try await admin.send(
      "POST", "/v1/codes/\(code)/approve", #"{"provider":"local","account":"demo"}"#)
    #expect(approved.status == 200, "\(approved.text)")
    let token = try await admin.service.call(
      client, "GET", "/api/v1/tokens/authn.json?deviceId=box")
    #expect(token.status == 200)
    // The same holds for signing the box out.
    let ended = try await admin.send("DELETE", "/v1/devices?id=box")
    #expect(ended.text == #"{"count":1}"#)
    let gone = try await admin.service.call(
      client, "GET", "/api/v1/tokens/authn.json?deviceId=box")
    #expect(gone.status == 404)
  }

  @Test func `revoking a key with its rows signs every box out, and boxes can still get new codes`() async throws {
    let admin = try await Admin()
    let client = InProcessClient(try admin.service.router())
    func regcode() async throws -> TestResponse {
      try await admin.service.call(client, "POST", "/reggie/v1/REF30/regcode.json?deviceId=box")
    }
    let code = try #require(try JSONValue(reading: try await regcode().body)["code"]?.string)
    try await admin.service.approve(code)
    let key = try await admin.send("POST", "/v1/requestors/REF30/keys")
    let other = try #require(try JSONValue(reading: key.body)["publicKey"]?.string)
    let revoked = try await admin.send("POST", "/v1/keys/\(other)/revoke", #"{"rows":true}"#)
    #expect(revoked.status == 200)
    let gone = try await admin.service.call(
      client, "GET", "/api/v1/tokens/authn.json?deviceId=box")
    #expect(gone.status == 404)
    #expect(try await regcode().status == 201)
  }
}

/// A service with sample data and its admin socket, called in process.
private struct Admin {
  let service: TestService
  private let socket: AdminSocket

  init(ownUser: UInt32 = 0, group: UInt32? = nil) async throws {
    service = try await TestService()
    socket = try AdminSocket(
      service.core, ownUser: ownUser, groups: group.map { [AdminGroup(.owner, "regent-admin", $0)] } ?? [])
  }

  func send(
    _ method: String, _ target: String, _ body: String = "",
    from peer: Peer = .local(Credentials(process: 1, user: 0, group: 0))
  ) async throws -> (status: UInt16, body: [UInt8], text: String) {
    try await socket.send(method, target, body, from: peer)
  }
}
