import HTTPServer
import HTTPTestSupport
import PairingStore
import RegentPairing
import RegentPairingWire
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

@Suite struct `Ownership of sign-ins by key pair` {
  private let authentication = "/api/v1/tokens/authn?deviceId=box-1"

  @Test func `another key pair with the device id is not signed in, and the owner stays signed in`() async throws {
    let (service, client) = try await signedIn()
    try await service.addKey("other-key")
    try await service.entitle()
    // Only the owner learns that the account is disabled.
    for isDisabled in [true, false] {
      try await service.disable(Sample.account, isDisabled)
      for target in [
        "/api/v1/checkauthn?deviceId=box-1", "/api/v1/authorize?deviceId=box-1&resource=news",
        "/api/v1/tokens/authz?deviceId=box-1&resource=news", "/api/v1/tokens/media?deviceId=box-1&resource=news",
        "/api/v1/preauthorize?deviceId=box-1&resource=news", "/api/v1/tokens/usermetadata?deviceId=box-1&key=userID",
        authentication,
      ] {
        let stranger = try await service.call(client, "GET", target.replacing("box-1", with: "box-9"), key: "other-key")
        let foreign = try await service.call(client, "GET", target, key: "other-key")
        #expect(foreign.status == stranger.status && foreign.text == stranger.text, "\(target): \(foreign.text)")
        let own = try await service.call(client, "GET", target).text
        #expect(own.contains(ErrorDetails.accountDisabled) == isDisabled, "\(target): \(own)")
      }
    }
    #expect(try await service.call(client, "DELETE", "/api/v1/logout?deviceId=box-1", key: "other-key").status == 204)
    #expect(try await service.call(client, "GET", "/api/v1/logout?deviceId=box-1", key: "other-key").status == 204)
    #expect(try await service.call(client, "GET", authentication).status == 200)
    #expect(try await service.call(client, "GET", "/api/v1/authorize?deviceId=box-1&resource=news").status == 200)
  }

  @Test func `a temporary pass of another key pair does not replace the sign-in`() async throws {
    let (service, client) = try await signedIn()
    try await service.addKey("other-key")
    let pass = "/api/v1/authenticate/freepreview?deviceId=box-1&mso_id=\(Sample.pass)&domain_name=example.com"
    #expect(try await service.call(client, "POST", pass, key: "other-key").status == 204)
    #expect(try await service.call(client, "GET", authentication, key: "other-key").text.contains(Sample.pass))
    #expect(try await service.call(client, "GET", authentication).text.contains(Sample.provider))
  }

  @Test func `an approval for another key pair with the device id leaves the first sign-in alone`() async throws {
    for key in ["other-key", "box-of-another"] {
      let (service, client) = try await signedIn()
      try await service.addKey(key)
      try await service.entitle()
      let first = try await service.call(client, "GET", authentication).text
      try await service.approve(try await service.code(client, by: key))
      #expect(try await service.call(client, "GET", authentication, key: key).status == 200)
      #expect(try await service.call(client, "GET", authentication).text == first)
      for one in [Sample.publicKey, key] {
        let authorized = try await service.call(
          client, "GET", "/api/v1/authorize?deviceId=box-1&resource=news", key: one)
        #expect(authorized.status == 200, "\(authorized.text)")
      }
      // Each signs out only itself, and may sign in again.
      #expect(try await service.call(client, "DELETE", "/api/v1/logout?deviceId=box-1").status == 204)
      #expect(try await service.call(client, "GET", authentication).status == 404)
      #expect(try await service.call(client, "GET", authentication, key: key).status == 200)
      try await service.approve(try await service.code(client))
      #expect(try await service.call(client, "GET", authentication).status == 200)
      #expect(try await service.call(client, "GET", authentication, key: key).status == 200)
      #expect(try await service.call(client, "DELETE", "/api/v1/logout?deviceId=box-1", key: key).status == 204)
      #expect(try await service.call(client, "GET", authentication, key: key).status == 404)
      #expect(try await service.call(client, "GET", authentication).status == 200)
    }
  }

  @Test func `a code of another key pair with the device id neither ends nor hides the pending code`() async throws {
    let service = try await TestService()
    let client = try service.client()
    try await service.addKey("other-key")
    let mine = try await service.code(client)
    let foreign = try await service.code(client, by: "other-key")
    for code in [mine, foreign] {
      let record = try service.found(code)
      #expect(service.core.codes.find(record)?.flow.state.isPending == true)
    }
    try await service.approve(mine)
    #expect(try await service.call(client, "GET", authentication, key: "other-key").status == 404)
    #expect(try await service.call(client, "GET", authentication).status == 200)
    let newer = try await service.code(client, by: "other-key")
    #expect(service.core.codes.find(try service.found(foreign))?.flow.state == .withdrawn)
    try await service.approve(newer)
    #expect(try await service.call(client, "GET", authentication, key: "other-key").status == 200)
    #expect(try await service.call(client, "GET", authentication).status == 200)
  }

  @Test func `a sign-in that is stored apart moves back when the device id is free, and leaves no second one`()
    async throws
  {
    let (service, client) = try await signedIn()
    try await service.addKey("other-key")
    try await service.approve(try await service.code(client, by: "other-key"))
    #expect(try await service.call(client, "DELETE", "/api/v1/logout?deviceId=box-1").status == 204)
    try await service.approve(try await service.code(client, by: "other-key"))
    let all = try await service.core.store.authentications(
      AuthenticationFilter(), after: nil, limit: 9, at: service.core.clock.now)
    #expect(all.count == 1)
    #expect(try await service.call(client, "DELETE", "/api/v1/logout?deviceId=box-1", key: "other-key").status == 204)
    #expect(try await service.call(client, "GET", authentication, key: "other-key").status == 404)
  }

  @Test func `an operator who types a device id with two owners learns the ids of both`() async throws {
    let (service, client) = try await signedIn()
    try await service.addKey("other-key")
    try await service.approve(try await service.code(client, by: "other-key"))
    let socket = try AdminSocket(service.core)
    let refused = try await socket.send("DELETE", "/v1/devices?id=box-1")
    #expect(refused.status == 409, "\(refused.text)")
    #expect(refused.text.contains("several boxes are signed in with this device id"), "\(refused.text)")
    for target in ["/v1/devices?id=box-1", "/v1/why?id=box-1"] {
      #expect(try await socket.send("GET", target).status == 409, "\(target)")
    }
    let records = try await service.core.store.authentications(
      AuthenticationFilter(), after: nil, limit: 9, at: service.core.clock.now)
    #expect(records.count == 2)
    for record in records {
      let name = record.deviceHash.shortName
      #expect(refused.text.contains(name), "\(refused.text)")
      #expect(try await socket.send("DELETE", "/v1/devices?id=\(name)").status == 200)
    }
    #expect(try await service.call(client, "GET", authentication).status == 404)
    #expect(try await service.call(client, "GET", authentication, key: "other-key").status == 404)
  }

  @Test func `an operator finds a sign-in that is stored apart by its device id`() async throws {
    let (service, client) = try await signedIn()
    try await service.addKey("other-key")
    try await service.approve(try await service.code(client, by: "other-key"))
    #expect(try await service.call(client, "DELETE", "/api/v1/logout?deviceId=box-1").status == 204)
    #expect(try await AdminSocket(service.core).send("DELETE", "/v1/devices?id=box-1").status == 200)
    #expect(try await service.call(client, "GET", authentication, key: "other-key").status == 404)
  }

  @Test func `only the key pair that made a code reads its match number and withdraws it`() async throws {
    let service = try await TestService()
    let client = try service.client()
    try await service.addKey("other-key")
    let code = try await service.code(client, "box-1", "&match=number")
    let record = "/reggie/v1/\(Sample.requestor)/regcode/\(code)?deviceId=box-1"
    _ = try await service.core.codeTransitions.open(try service.found(code))
    #expect(try await service.call(client, "GET", record).text.contains("match"))
    #expect(!(try await service.call(client, "GET", record, key: "other-key").text.contains("match")))
    #expect(try await service.call(client, "DELETE", record, key: "other-key").status == 404)
    #expect(try await service.call(client, "DELETE", record).status == 204)
  }

  @Test func `a key pair issued later takes over the sign-ins of a retired or revoked one`() async throws {
    for state in [KeyPair.State.retired, .revoked] {
      let (service, client) = try await signedIn()
      try await service.addKey("later-key")
      try await service.addKey("box-of-another")
      #expect(try await service.call(client, "GET", authentication, key: "later-key").status == 404)
      try await service.set(Sample.publicKey, to: state)
      #expect(try await service.call(client, "GET", authentication, key: "later-key").status == 200)
      #expect(try await service.call(client, "GET", authentication, key: "box-of-another").status == 404)
      let first = try await service.call(client, "GET", authentication).status
      #expect(first == (state == .retired ? 200 : 401))
    }
  }

  @Test func `the revoked key pair of a box has no successor`() async throws {
    let service = try await TestService()
    let client = try service.client()
    try await service.addKey("box-one")
    try await service.addKey("later-key")
    try await service.approve(try await service.code(client, by: "box-one"))
    #expect(try await service.call(client, "GET", authentication, key: "box-one").status == 200)
    try await service.set("box-one", to: .revoked)
    #expect(try await service.call(client, "GET", authentication, key: "later-key").status == 404)
    #expect(try await service.call(client, "GET", authentication).status == 404)
  }

  private func signedIn() async throws -> (TestService, InProcessClient) {
    let service = try await TestService()
    let client = try service.client()
    try await service.approve(try await service.code(client))
    #expect(try await service.call(client, "GET", authentication).status == 200)
    return (service, client)
  }
}

extension TestService {
  fileprivate func client() throws -> InProcessClient {
    InProcessClient(try Router(ServiceRoutes.devices(core), refuse: ServiceRoutes.refuse))
  }

  fileprivate func call(
    _ client: any TestClient, _ method: String, _ target: String, key: String
  ) async throws -> TestResponse {
    let path = String(target.prefix { $0 != "?" })
    return try await client.send(
      TestRequest(method, target, headers: [try signature(method, path, publicKey: key)]))
  }

  fileprivate func code(_ client: any TestClient, by key: String) async throws -> String {
    let made = try await call(
      client, "POST", "/reggie/v1/\(Sample.requestor)/regcode.json?deviceId=box-1", key: key)
    return String(try #require(made.text.firstMatch(of: /"code":"([A-Z]+)"/)?.output.1))
  }

  fileprivate func set(_ key: String, to state: KeyPair.State) async throws {
    _ = try await core.store.setState(of: try named(key), to: state, audit: nil, at: core.clock.now)
    try await core.refreshProvisioning()
  }

  fileprivate func entitle() async throws {
    let rule = Entitlement(
      id: try named("a-rule"), provider: try named(Sample.provider), scope: .everybody,
      pattern: try #require(ResourcePattern("news")), effect: .allow)
    _ = try await core.store.put(.entitlement(rule), replacing: nil, audit: nil, at: core.clock.now)
    try await core.refreshProvisioning()
  }
}
