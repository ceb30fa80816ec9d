import HTTPTestSupport
import PairingStore
import RegentJSON
import RegentPairing
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

@Suite struct `Dynamic registration of OAuth clients` {
  private func register(
    _ client: any TestClient, _ members: JSONObject, to path: String = "/oauth/register", _ method: String = "POST",
    token: String? = nil
  ) async throws -> TestResponse {
    var headers = [(name: "Content-Type", value: "application/json")]
    if let token { headers.append(bearer(token)) }
    return try await client.send(TestRequest(method, path, headers: headers, body: members.bytes()))
  }

  private let asked: JSONObject = [
    "client_name": "One", "id_token_signed_response_alg": "ES256", "token_endpoint_auth_method": "none",
  ]

  private func open(_ service: TestService) async throws { try await set(service, .open) }

  private func set(_ service: TestService, _ registration: ClientRegistration) async throws {
    let id: RequestorID = try named(Sample.requestor)
    let there = try #require(service.core.provisioning.now.records.requestors[id])
    var changed = there
    changed.registration = registration
    _ = try await service.core.store.put(
      .requestor(changed), replacing: .requestor(there), audit: nil, at: service.clock.now)
    try await service.core.refreshProvisioning()
  }

  @Test func `a client registers as oidc-agent does and gets a device code`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let asked: JSONObject = [
        "client_name": "oidc-agent:x", "response_types": [], "redirect_uris": ["edu.kit.data.oidc-agent:/redirect"],
        "grant_types": ["refresh_token", "urn:ietf:params:oauth:grant-type:device_code"], "unknown": 1,
        "id_token_signed_response_alg": "ES256",
      ]
      // Registration without a statement is refused until an operator opens it.
      #expect(try await register(client, asked).error == "unapproved_software_statement")
      try await open(service)
      let made = try await register(client, asked)
      #expect(made.status == 201)
      #expect(made.header("cache-control") == "no-store")
      let object = try made.json()
      let (id, secret) = (try object.string("client_id"), try object.string("client_secret"))
      #expect(try object.int64("client_secret_expires_at") == 0)
      #expect(try object.string("scope") == "openid profile offline_access entitlements")
      #expect(try object.strings("redirect_uris") == ["edu.kit.data.oidc-agent:/redirect"])
      let code = try await client.post(
        "/oauth/device_authorization", headers: [("Authorization", "Basic " + base64("\(id):\(secret)"))])
      #expect(code.status == 200, "\(code.text)")
    }
  }

  @Test func `a client gets only scopes that exist, that it registered and that it asked for`() async throws {
    let service = try await TestService()
    try await open(service)
    let admin = try AdminSocket(service.core)
    try await withOAuth(service) { client in
      func registered(_ scope: JSONValue?) async throws -> TestResponse {
        var members = asked
        members["scope"] = scope
        return try await register(client, members)
      }
      let all = "openid profile offline_access entitlements"
      for (wanted, given): (JSONValue?, String) in [
        (nil, all), ("", all), ("offline_access openid email", "openid offline_access"), ("openid openid", "openid"),
      ] {
        #expect(try await registered(wanted).json().string("scope") == given)
      }
      for wanted: JSONValue in ["email", "read write", ["openid"], 5] {
        #expect(try await registered(wanted).error == "invalid_client_metadata")
      }
      #expect(try await registered("a\"b").error == "invalid_scope")
      // The admin socket refuses a misspelled scope and lists the valid ones.
      let id = try await registered("openid").json().string("client_id")
      for scope in ["openid offline-access", "all", "", "  "] {
        let body = #"{"name":"N","kind":"public","algorithm":"ES256","scope":"\#(scope)"}"#
        let added = try await admin.send("POST", "/v1/requestors/REF30/clients", body)
        let changed = try await admin.send("PATCH", "/v1/clients/\(id)", #"{"scope":"\#(scope)"}"#)
        for answer in [added, changed] {
          #expect(answer.status == 400, "\(scope): \(answer.text)")
          #expect(answer.text.contains("openid, profile, offline_access, entitlements"), "\(answer.text)")
        }
      }
      // A scope that the client may not have is left out, and the token response names the granted scopes.
      let box = try await OAuthBox(service, client, scope: "openid offline_access")
      let tokens = try await box.pair([("scope", "openid entitlements email")])
      #expect(tokens.scope == "openid")
      #expect(try await box.post("device_authorization", [("scope", "entitlements email")]).error == "invalid_scope")
    }
  }

  @Test func `a refresh gives only scopes that the client may still have`() async throws {
    let service = try await TestService()
    let admin = try AdminSocket(service.core)
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      var tokens = try await box.pair()
      let body = #"{"scope":"openid offline_access"}"#
      #expect(try await admin.send("PATCH", "/v1/clients/\(box.id)", body).status == 200)
      // The client repeats the scopes that it was granted.
      tokens = try Tokens(try await box.refresh(try #require(tokens.refresh), [("scope", tokens.scope)]))
      #expect(tokens.scope == "openid offline_access")
      let refused = try await box.refresh(try #require(tokens.refresh), [("scope", "entitlements")])
      #expect(refused.error == "invalid_scope")
      let narrow = try await box.pair([("scope", "openid offline_access")])
      #expect(try await admin.send("PATCH", "/v1/clients/\(box.id)", #"{"scope":"openid profile"}"#).status == 200)
      for scope in ["openid profile", "profile"] {
        #expect(try await box.refresh(try #require(narrow.refresh), [("scope", scope)]).error == "invalid_scope")
      }
    }
  }

  @Test func `claims of a software statement override the members of the request`() async throws {
    let service = try await TestService()
    let statement = try await service.statement()
    try await withOAuth(service) { client in
      let made = try await register(
        client,
        [
          "software_statement": .string(statement), "client_name": "Your bank", "software_id": "other",
          "token_endpoint_auth_method": "none", "id_token_signed_response_alg": "ES256",
        ]
      ).json()
      #expect(try made.string("client_name") == "Sample app")
      #expect(try made.string("software_id") != "other")
      #expect(try made.string("software_statement") == statement)
      #expect(made["client_secret"] == nil)
      let damaged = String(statement.dropLast(4)) + "AAAA"
      #expect(
        try await register(client, ["software_statement": .string(damaged)]).error == "invalid_software_statement")
      // The service never fetches keys from a URL.
      let fetched = try await register(
        client,
        [
          "software_statement": .string(statement), "token_endpoint_auth_method": "private_key_jwt",
          "jwks_uri": "http://127.0.0.1/keys",
        ])
      #expect(fetched.error == "invalid_client_metadata")
    }
  }

  @Test func `a client manages its own registration and no other (RFC 7592)`() async throws {
    let service = try await TestService()
    try await open(service)
    try await withOAuth(service) { client in
      func made() async throws -> (id: String, token: String, path: String) {
        let object = try await register(
          client, ["client_name": "One", "id_token_signed_response_alg": "ES256", "token_endpoint_auth_method": "none"]
        ).json()
        let address = try object.string("registration_client_uri")
        return (
          try object.string("client_id"), try object.string("registration_access_token"),
          String(address.dropFirst("https://tv.example.org".count))
        )
      }
      let (one, other) = (try await made(), try await made())
      let mine = try await client.get(one.path, headers: [bearer(one.token)])
      #expect(try mine.json().string("client_name") == "One")
      #expect(try await client.get(one.path, headers: [bearer(other.token)]).status == 401)
      #expect(try await client.get(one.path).status == 401)
      let members: JSONObject = [
        "client_id": .string(one.id), "client_name": "Two", "token_endpoint_auth_method": "none",
      ]
      let changed = try await register(client, members, to: one.path, "PUT", token: one.token)
      #expect(try changed.json().string("client_name") == "Two")
      for name in ["registration_access_token", "client_id_issued_at", "client_secret"] {
        var wrong = members
        wrong[name] = "x"
        #expect(try await register(client, wrong, to: one.path, "PUT", token: one.token).error == "invalid_request")
      }
      #expect(try await register(client, ["client_name": "Two"], to: one.path, "PUT", token: one.token).status == 400)
      #expect(try await register(client, [:], to: one.path, "PATCH", token: one.token).status == 405)
      let gone = try await client.send(TestRequest("DELETE", one.path, headers: [bearer(one.token)]))
      #expect(gone.status == 204)
      #expect(try await client.get(one.path, headers: [bearer(one.token)]).status == 401)
      #expect(
        try await client.post("/oauth/device_authorization", form: [("client_id", one.id)]).error == "invalid_client")
    }
  }

  @Test func `a client changes its registration at a limited rate, and a request without change writes no audit line`()
    async throws
  {
    let service = try await TestService()
    try await open(service)
    try await withOAuth(service) { client in
      let made = try await register(client, asked).json()
      let (id, token) = (try made.string("client_id"), try made.string("registration_access_token"))
      let path = String(try made.string("registration_client_uri").dropFirst("https://tv.example.org".count))
      var answers: [UInt16: Int] = [:]
      func put(_ name: String) async throws {
        let members: JSONObject = [
          "client_id": .string(id), "client_name": .string(name), "token_endpoint_auth_method": "none",
          "id_token_signed_response_alg": "ES256",
        ]
        answers[try await register(client, members, to: path, "PUT", token: token).status, default: 0] += 1
      }
      for _ in 0..<150 { try await put("One") }
      #expect(answers == [200: 150])
      #expect(try await service.audit("client.set").isEmpty)
      for number in 0..<150 { try await put("Name \(number)") }
      #expect(answers == [200: 250, 429: 50])
      // The registration itself was the first line in the budget of this address.
      #expect(try await service.audit("client.set").count == 99)
      service.clock.pass(.seconds(2))
      for number in 0..<9 { try await put("Later \(number)") }
      #expect(answers == [200: 252, 429: 57])
      #expect(try await service.audit("client.set").count == 99)
      await service.core.audit.tellCounted(all: true)
      #expect(
        try await service.audit("client.set").last?.detail.hasPrefix("3 more events of this kind within ") == true)
    }
  }

  @Test func `one source registers at most a hundred clients at once, then one in ten seconds`() async throws {
    let service = try await TestService()
    try await open(service)
    try await withOAuth(service) { client in
      var answers: [UInt16: Int] = [:]
      for _ in 0..<110 {
        answers[try await register(client, asked).status, default: 0] += 1
      }
      #expect(answers == [201: 100, 429: 10])
      // In ten seconds the limit restores one registration. Apps with a statement get ten.
      service.clock.pass(.seconds(10))
      answers = [:]
      for _ in 0..<10 { answers[try await register(client, asked).status, default: 0] += 1 }
      #expect(answers == [201: 1, 429: 9])
    }
  }

  @Test func `an initial access token registers as many clients as it allows, until it expires`() async throws {
    let service = try await TestService()
    let (requestor, token): (RequestorID, String) = (try named(Sample.requestor), "an-initial-access-token")
    func invite(_ id: String, _ token: String, seconds: Int = 60) async throws {
      let now = service.clock.now
      try await service.core.store.invite(
        ClientInvitationRecord(
          id: try named(id), requestor: requestor, token: service.core.hasher.token(token), uses: 2, created: now,
          expires: now + .seconds(seconds)), audit: nil, at: now)
    }
    try await invite("one", token)
    try await withOAuth(service) { client in
      // A requestor that closed registration accepts no initial access token either.
      try await set(service, .closed)
      #expect(try await register(client, asked, token: token).error == "invalid_token")
      try await set(service, .statement)
      let made = try await register(client, asked, token: token)
      #expect(made.status == 201, "\(made.text)")
      let record = try #require(
        try await service.core.store.oauthClient(try named(try made.json().string("client_id"))))
      #expect(record.origin == .invited)
      #expect(record.requestor == requestor)
      // An invalid registration does not use up the token.
      #expect(try await register(client, ["client_name": 1], token: token).error == "invalid_client_metadata")
      #expect(try await register(client, asked, token: token).status == 201)
      let late = try await register(client, asked, token: token)
      #expect(late.status == 401)
      #expect(late.error == "invalid_token")
      #expect(try await register(client, asked, token: "guessed").error == "invalid_token")
      // An open requestor accepts every client, but not one with an invalid token: its owner would not notice the
      // mistake.
      try await set(service, .open)
      #expect(try await register(client, asked, token: "guessed").error == "invalid_token")
      #expect(try await register(client, asked).status == 201)
      try await invite("two", "another", seconds: 60)
      service.clock.pass(.seconds(60))
      #expect(try await register(client, asked, token: "another").error == "invalid_token")
    }
  }

  @Test func `a client that does not pair within a day is removed and told so when it asks for a code`() async throws {
    let service = try await TestService()
    try await set(service, .open)
    try await withOAuth(service) { client in
      func made() async throws -> String { try await register(client, asked).json().string("client_id") }
      let (one, other) = (try await made(), try await made())
      func code(_ id: String) async throws -> TestResponse {
        try await client.post("/oauth/device_authorization", form: [("client_id", id)])
      }
      let pairing = try await code(other).json()
      try await service.approve(try pairing.string("user_code"))
      let tokens = try await client.post(
        "/oauth/token",
        form: [
          ("client_id", other), ("grant_type", OAuthBox.grant), ("device_code", try pairing.string("device_code")),
        ])
      #expect(tokens.status == 200, "\(tokens.text)")
      service.clock.pass(.seconds(86_399))
      await Upkeep(service.core).once()
      #expect(try await code(one).status == 200)
      service.clock.pass(.seconds(1))
      await Upkeep(service.core).once()
      #expect(try await code(one).error == "invalid_client")
      #expect(try await code(other).status == 200)
    }
  }
}
