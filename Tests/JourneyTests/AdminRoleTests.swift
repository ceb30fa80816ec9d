import Administration
import HTTPServer
import HTTPTestSupport
import PairingService
import PairingStore
import RegentJSON
import ServiceTestSupport
import TestSupport
import Testing

/// Tests which role may make which call on the admin socket.
@Suite struct `Roles on the admin socket` {
  private static let groups = [
    AdminGroup(.viewer, "watchers", 71), AdminGroup(.desk, "front desk", 72), AdminGroup(.operator, "staff", 73),
    AdminGroup(.owner, "regent-admin", 74),
  ]
  /// The members of the groups, and a user who is in none.
  private static let peers: [(role: AdminRole?, peer: HTTPServer.Credentials)] =
    groups.map { group in
      (group.role, HTTPServer.Credentials(process: 1, user: 54_321, group: 1, supplementaryGroups: [5, group.id]))
    }
    + [(nil, HTTPServer.Credentials(process: 1, user: 1_000, group: 1, supplementaryGroups: [5]))]

  /// The least role for each call, written a second time, so that a change of the first table is noticed.
  private static let needed: [AdminRole: String] = [
    .viewer: """
    GET /metrics
    GET /v1/service
    GET /v1/stats
    GET /v1/doctor
    GET /v1/why
    GET /v1/audit
    GET /v1/audit/newest
    GET /v1/nodes
    GET /v1/nodes/{node}
    GET /v1/requestors
    GET /v1/requestors/{requestor}
    GET /v1/requestors/{requestor}/integrations
    GET /v1/requestors/{requestor}/integrations/{provider}
    GET /v1/requestors/{requestor}/keys
    GET /v1/keys/{key}
    GET /v1/statements
    GET /v1/statements/{statement}
    GET /v1/signing-keys
    GET /v1/signing-keys/{key}
    GET /v1/invitations
    GET /v1/client-invitations
    GET /v1/clients
    GET /v1/clients/{client}
    GET /v1/grants
    GET /v1/providers
    GET /v1/providers/{provider}
    GET /v1/providers/{provider}/accounts
    GET /v1/providers/{provider}/account
    GET /v1/providers/{provider}/entitlements
    GET /v1/providers/{provider}/title-test
    GET /v1/providers/{provider}/channels
    GET /v1/entitlements/{rule}
    GET /v1/codes
    GET /v1/sign-ins
    GET /v1/sign-ins/{authentication}
    GET /v1/devices
    GET /v1/boxes
    GET /v1/boxes/{box}
    GET /v1/sessions
    GET /v1/sessions/{session}
    GET /v1/temporary-passes
    POST /v1/tokens/verify
    """,
    .desk: """
    GET /v1/codes/{code}
    POST /v1/codes/{code}/withdraw
    POST /v1/codes/{code}/approve
    PUT /v1/providers/{provider}/account/password
    POST /v1/sign-ins/{authentication}/revoke
    PATCH /v1/devices
    DELETE /v1/devices
    POST /v1/boxes/{box}/sign-out
    POST /v1/sessions/{session}/end
    POST /v1/grants/{grant}/revoke
    """,
    .operator: """
    PUT /v1/requestors/{requestor}
    PATCH /v1/requestors/{requestor}
    DELETE /v1/requestors/{requestor}
    PATCH /v1/requestors/{requestor}/integrations/{provider}
    DELETE /v1/requestors/{requestor}/integrations/{provider}
    POST /v1/requestors/{requestor}/invitations
    POST /v1/invitations/{invitation}/revoke
    POST /v1/requestors/{requestor}/client-invitations
    POST /v1/client-invitations/{invitation}/revoke
    POST /v1/requestors/{requestor}/clients
    PATCH /v1/clients/{client}
    DELETE /v1/clients/{client}
    PUT /v1/providers/{provider}
    PATCH /v1/providers/{provider}
    DELETE /v1/providers/{provider}
    PUT /v1/providers/{provider}/account
    PATCH /v1/providers/{provider}/account
    DELETE /v1/providers/{provider}/account
    GET /v1/providers/{provider}/account/data
    POST /v1/providers/{provider}/account/erase
    POST /v1/accounts
    POST /v1/accounts/hashes
    PUT /v1/providers/{provider}/entitlements
    DELETE /v1/entitlements/{rule}
    POST /v1/temporary-passes/reset
    POST /v1/nodes/{node}/drain
    POST /v1/nodes/{node}/resume
    """,
    .owner: """
    POST /v1/requestors/{requestor}/keys
    POST /v1/keys/{key}/retire
    POST /v1/keys/{key}/revoke
    POST /v1/requestors/{requestor}/statements
    POST /v1/statements/{statement}/revoke
    POST /v1/signing-keys/rotate
    POST /v1/signing-keys/{key}/retire
    POST /v1/master-key/change
    POST /v1/backups
    GET /v1/backups/{backup}
    DELETE /v1/backups/{backup}
    """,
  ]

  @Test func `every call has a role, and each role is allowed exactly its calls`() async throws {
    let service = try await TestService()
    let socket = try AdminSocket(service.core, ownUser: 999, groups: Self.groups)
    var needed: [String: AdminRole] = [:]
    for (role, calls) in Self.needed { for call in calls.split(separator: "\n") { needed[String(call)] = role } }
    #expect(Set(socket.calls).subtracting(needed.keys) == [], "add these calls to AdminRole and to this test")
    #expect(Set(needed.keys).subtracting(socket.calls) == [], "there is no such call")
    #expect(AdminRole.calls == Set(socket.calls), "AdminRole has a role for each call")
    var sent = 0
    for call in socket.calls {
      let parts = call.split(separator: " ")
      let target = String(parts[1]).replacing(/\{[a-z]+\}/, with: "some-id")
      for (role, peer) in Self.peers {
        let answer = try await socket.send(String(parts[0]), target, from: .local(peer))
        let least = try #require(needed[call], "\(call) has no role")
        let isAllowed = role.map { $0 >= least } ?? false
        #expect((answer.status != 403) == isAllowed, "\(role?.rawValue ?? "a stranger"): \(call): \(answer.text)")
        sent += 1
      }
    }
    #expect(sent == socket.calls.count * 5)
  }

  @Test func `only owners read the ids of devices, with which a device can be impersonated`() async throws {
    let service = try await TestService()
    let socket = try AdminSocket(service.core, ownUser: 999, groups: Self.groups)
    let client = InProcessClient(try await service.phoneRouter())
    _ = try await newCode(service, client, device: "id-of-room-7")
    let code = try await newCode(service, client, device: "id-of-room-8")
    let approval = #"{"provider":"local","account":"demo"}"#
    #expect(try await socket.send("POST", "/v1/codes/\(code)/approve", approval).status == 200)
    let id = try await JSONValue(reading: socket.send("GET", "/v1/sign-ins").body).array?.first?.object?["id"]?.string
    let signIn = try #require(id)
    let targets =
      socket.calls.filter { $0.hasPrefix("GET ") && !$0.contains("{") }.map { String($0.dropFirst(4)) }
      + [
        "/v1/codes/\(code)", "/v1/sign-ins/\(signIn)", "/v1/devices?id=id-of-room-8", "/v1/why?box=id-of-room-8",
        "/v1/providers/local/account/data?name=demo",
      ]
    for (role, peer) in Self.peers {
      var texts = ""
      for target in targets { texts += try await socket.send("GET", target, from: .local(peer)).text }
      #expect(texts.contains("id-of-room-7") == (role == .owner), "\(role?.rawValue ?? "a stranger")")
      #expect(texts.contains("\"id-of-room-8") == (role == .owner), "\(role?.rawValue ?? "a stranger")")
    }
  }

  @Test func `a refusal names the role that is missing and the group that has it`() async throws {
    let service = try await TestService()
    func refusal(_ method: String, _ target: String, _ role: AdminRole?, among groups: [AdminGroup]) async throws
      -> AdminError
    {
      let socket = try AdminSocket(service.core, ownUser: 999, groups: groups)
      let member = Self.peers.first { $0.role == role }
      let peer = try #require(member).peer
      let answer = try await socket.send(method, target, from: .local(peer))
      #expect(answer.status == 403)
      return try AdminError(value: try JSONValue(reading: answer.body), named: "answer")
    }
    let backup = try await refusal("POST", "/v1/backups", .desk, among: Self.groups)
    #expect(backup.message == "this needs the role owner, and user 54321 has the role desk")
    #expect(
      backup.hint == "ask root or a member of the group regent-admin, which has the role owner, to run the command")
    let password = try await refusal(
      "PUT", "/v1/providers/local/account/password?name=demo", .viewer, among: Self.groups)
    #expect(password.message == "this needs the role desk, and user 54321 has the role viewer")
    #expect(password.hint?.contains("a member of the group front desk") == true, "\(password.hint ?? "")")
    // The next higher role helps when no group has the needed one.
    let higher = try await refusal(
      "PUT", "/v1/requestors/acme", .viewer, among: Self.groups.filter { $0.role != .operator })
    #expect(higher.hint?.contains("a member of the group regent-admin") == true)
    let none = try await refusal("POST", "/v1/backups", .desk, among: Self.groups.filter { $0.role != .owner })
    #expect(none.hint == "ask root to run the command")
    try await eventually("the refusals in the audit log") {
      let lines = try await service.core.store.audit(after: 0, limit: 100).map(\.entry)
      let details = lines.filter { $0.action == "admin.refused" && $0.subject == "user 54321" }.map(\.detail)
      return details.contains("POST /v1/backups: the user has the role desk; the call needs owner")
        && details.contains { $0.hasPrefix("PUT /v1/providers/local/account/password:") }
    }
    let stranger = try await refusal("GET", "/v1/stats", nil, among: Self.groups)
    #expect(stranger.message.contains("may not use the admin socket"))
    #expect(stranger.hint?.contains("join the group watchers, which has the role viewer") == true)
  }

  @Test func `root and the service's user are owners, and a member of several groups has the highest role`()
    async throws
  {
    let access = AdminAccess(ownUser: 999, groups: Self.groups)
    func role(_ user: UInt32, _ group: UInt32, _ others: [UInt32]) -> AdminRole? {
      access.role(of: HTTPServer.Credentials(process: 1, user: user, group: group, supplementaryGroups: others))
    }
    #expect(role(0, 0, []) == .owner)
    #expect(role(999, 1, []) == .owner)
    #expect(role(1_000, 71, [73, 72]) == .operator)
    #expect(role(1_000, 72, []) == .desk, "the primary group counts, too")
    #expect(role(1_000, 1, [0]) == nil, "the group root has no role")
  }
}
