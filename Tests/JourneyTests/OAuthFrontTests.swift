import HTTPServer
import HTTPTestSupport
import PairingStore
import PairingStoreSQLite
import RegentCryptography
import RegentHTTPCodec
import RegentJSON
import RegentOAuth
import RegentPairing
import RegentPlatform
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

private let page = (name: "Origin", value: "https://app.example.com")

@Suite struct `Cross-origin requests to the OAuth endpoints` {
  @Test(arguments: [
    ("/oauth/.well-known/openid-configuration", "GET"), ("/oauth/.well-known/oauth-authorization-server", "GET"),
    ("/.well-known/oauth-authorization-server/oauth", "GET"), ("/oauth/keys", "GET"),
    ("/oauth/jwks.json", "GET"),
    ("/oauth/device_authorization", "POST"), ("/oauth/token", "POST"), ("/oauth/introspect", "POST"),
    ("/oauth/revoke", "POST"), ("/oauth/userinfo", "GET, POST"), ("/oauth/register", "POST"),
    ("/oauth/register/some", "GET, PUT, DELETE"), ("/api/v1/authorize", "GET"),
  ])
  func `a CORS preflight request allows the methods and headers that OAuth clients send`(
    target: String, methods: String
  ) async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let answer = try await client.send(
        TestRequest(
          "OPTIONS", target,
          headers: [
            page, ("Access-Control-Request-Method", "POST"),
            ("Access-Control-Request-Headers", "authorization, content-type, dpop, prefer"),
          ]))
      #expect(answer.status == 204)
      #expect(answer.header("access-control-allow-origin") == "*")
      #expect(answer.header("access-control-allow-credentials") == nil)
      let allowed = try #require(answer.header("access-control-allow-methods"))
      for method in methods.split(separator: ", ") { #expect(allowed.contains(method), "\(allowed)") }
      let headers = try #require(answer.header("access-control-allow-headers")).lowercased().split(separator: ", ")
      for name in ["authorization", "content-type", "dpop", "prefer"] { #expect(headers.contains(Substring(name))) }
    }
  }

  @Test func `pages of other origins may read nonces, challenges and every refusal`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let answers = [
        try await client.post("/oauth/token", headers: [page]),
        try await client.get("/oauth/userinfo", headers: [page]),
        try await client.get("/oauth/token", headers: [page]), try await client.get("/oauth/nowhere", headers: [page]),
        try await client.get("/oauth/register/some", headers: [page]),
        try await client.post(
          "/oauth/device_authorization", form: [("client_id", box.id)], headers: [page, ("DPoP", "x")]),
        try await client.get("/api/v1/authorize?resource=news", headers: [page, bearer("x")]),
      ]
      for answer in answers {
        #expect(answer.header("access-control-allow-origin") == "*", "\(answer.status) \(answer.text)")
        let names = answer.header("access-control-expose-headers") ?? ""
        for name in ["DPoP-Nonce", "WWW-Authenticate", "Retry-After"] { #expect(names.contains(name)) }
      }
      for path in ["/oauth/.well-known/openid-configuration", "/oauth/keys", "/oauth/jwks.json"] {
        #expect(try await client.get(path, headers: [page]).header("access-control-allow-origin") == "*")
      }
      // The authorization endpoint must not allow cross-origin requests (RFC 9700, section 2.6), even though it only
      // refuses.
      let authorize = try await client.get("/oauth/authorize?response_type=code", headers: [page])
      #expect(authorize.error == "unsupported_response_type")
      #expect(authorize.header("access-control-allow-origin") == nil)
    }
  }
}

@Suite struct `Requests that no OAuth endpoint accepts` {
  @Test func `an unsupported method or path is answered in JSON, with Allow where another method works`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      for (method, path, status, allow): (String, String, UInt16, String?) in [
        ("GET", "/oauth/token", 405, "POST, OPTIONS"), ("PUT", "/oauth/device_authorization", 405, "POST, OPTIONS"),
        ("DELETE", "/oauth/userinfo", 405, "GET, HEAD, POST, OPTIONS"),
        ("POST", "/oauth/keys", 405, "GET, HEAD, OPTIONS"),
        ("PATCH", "/oauth/register/x", 405, "GET, HEAD, PUT, DELETE, OPTIONS"), ("GET", "/oauth/nowhere", 404, nil),
        ("GET", "/oauth/token/", 404, nil),
      ] {
        let answer = try await client.send(TestRequest(method, path, headers: []))
        #expect(answer.status == status, "\(method) \(path)")
        #expect(answer.error == "invalid_request", "\(method) \(path): \(answer.text)")
        #expect(answer.header("content-type")?.hasPrefix("application/json") == true)
        #expect(answer.header("cache-control") == "no-store")
        #expect(answer.header("allow") == allow, "\(method) \(path)")
      }
    }
  }

  /// The refusals of the HTTP server itself, which come before any handler: by path, also below a path prefix.
  @Test func `the HTTP server refuses OAuth paths in JSON and leaves other paths to the default text`() throws {
    for path in ["/oauth/token", "/tv/oauth/register"] {
      let answer = try #require(ServiceRoutes.engineRefusal(.contentTooLarge, Array(path.utf8)))
      #expect(String(decoding: answer.body, as: UTF8.self).hasPrefix(#"{"error":"invalid_request""#))
      #expect(answer.header(HeaderName(literal: "Access-Control-Allow-Origin")) == "*")
      let busy = try #require(ServiceRoutes.engineRefusal(.serviceUnavailable, Array(path.utf8)))
      #expect(String(decoding: busy.body, as: UTF8.self).hasPrefix(#"{"error":"temporarily_unavailable""#))
    }
    for path in ["/D/AAAA", "/api/v1/authorize", "", "/oauth"] {
      #expect(ServiceRoutes.engineRefusal(.contentTooLarge, Array(path.utf8)) == nil)
    }
  }
}

@Suite struct `Challenges for refused tokens` {
  private static let call = "/api/v1/authorize?resource=news&format=json"
  private static let algorithms = #"algs="RS256 ES256 EdDSA""#

  @Test(arguments: ["/oauth/userinfo", call])
  func `a refused token gets the challenge that says how to use it`(path: String) async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      var box = try await OAuthBox(service, client)
      let key = try SigningKey.generate(.es256)
      box.proofKey = key
      let tokens = try await box.pair()
      let place = "https://tv.example.org" + (path.split(separator: "?").first.map(String.init) ?? path)
      func proof(nonce: String? = nil, of key: SigningKey, at ahead: Duration = .zero) throws -> String {
        try DPoPProof.make(
          for: .init(method: "GET", target: try #require(ProofTarget(place)), accessToken: tokens.access), with: key,
          nonce: nonce, at: service.clock.now + ahead)
      }
      func ask(_ authorization: String?, _ proof: String? = nil) async throws -> TestResponse {
        var headers: [(name: String, value: String)] = []
        if let authorization { headers.append(("Authorization", authorization)) }
        if let proof { headers.append(("DPoP", proof)) }
        return try await client.get(path, headers: headers)
      }
      func challenges(_ answer: TestResponse) -> [String] {
        #expect(answer.status == 401, "\(answer.text)")
        return answer.headers("www-authenticate")
      }
      let bound = "DPoP " + tokens.access
      // A DPoP-bound token sent as a Bearer token.
      #expect(
        challenges(try await ask("Bearer " + tokens.access)) == [#"DPoP error="invalid_token", \#(Self.algorithms)"#])
      let none = try await ask(bound)
      #expect(challenges(none) == [#"DPoP error="invalid_dpop_proof", \#(Self.algorithms)"#])
      let late = try await ask(bound, try proof(of: key, at: .seconds(86_400)))
      #expect(challenges(late) == [#"DPoP error="use_dpop_nonce", \#(Self.algorithms)"#])
      let nonce = try #require(late.header("dpop-nonce"))
      #expect(
        challenges(try await ask(bound, try proof(nonce: nonce, of: try SigningKey.generate(.es256))))
          == [#"DPoP error="invalid_token", \#(Self.algorithms)"#])
      // With the nonce from the response the client succeeds, even with a wrong clock.
      let good = try await ask(bound, try proof(nonce: nonce, of: key, at: .seconds(86_400)))
      #expect(good.status == 200, "\(good.text)")
      box.proofKey = nil
      let bare = try await box.pair()
      let revoked = try await box.post("revoke", [("token", bare.access)])
      #expect(revoked.status == 200)
      #expect(challenges(try await ask("Bearer " + bare.access)) == [#"Bearer error="invalid_token""#])
    }
  }

  @Test func `without a token both schemes are challenged without an error, and a narrow scope names the needed one`()
    async throws
  {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let none = try await client.get("/oauth/userinfo")
      #expect(none.status == 401)
      #expect(none.headers("www-authenticate") == ["Bearer", "DPoP \(Self.algorithms)"])
      let narrow = try await OAuthBox(service, client, scope: "profile").pair()
      let little = try await client.get("/oauth/userinfo", headers: [bearer(narrow.access)])
      #expect(little.status == 403)
      #expect(little.header("www-authenticate") == #"Bearer error="insufficient_scope", scope="openid""#)
      let call = try await client.get(Self.call, headers: [bearer(narrow.access)])
      #expect(call.status == 403)
      #expect(call.header("www-authenticate") == #"Bearer error="insufficient_scope", scope="entitlements""#)
    }
  }
}

@Suite struct `Token introspection` {
  @Test(arguments: OAuthClientRecord.Origin.allCases)
  func `only a client that an operator added learns about tokens of other clients`(origin: OAuthClientRecord.Origin)
    async throws
  {
    try await withFileStore { store in
      let service = try await TestService(on: store)
      try await withOAuth(service) { client in
        let box = try await OAuthBox(service, client)
        let other = try await box.pair()
        let api = try await OAuthBox(service, client, .basic, origin: origin)
        let own = try await api.pair()
        // The second introspection is answered from memory.
        for _ in 0..<2 {
          #expect(try await api.introspect(own.access)["active"] == true)
          let worth = try await api.introspect(other.access)
          #expect(worth["active"] == .bool(origin == .operator))
          if origin != .operator { #expect(worth == ["active": false]) }
          #expect(try await api.introspect(try #require(other.refresh)) == ["active": false])
          #expect(try await api.introspect(try #require(own.refresh))["active"] == true)
        }
      }
    }
  }
}

@Suite struct `Sources of wrong client secrets` {
  private func wrong(_ client: any TestClient, _ id: String, _ secret: String = "wrong") async throws -> TestResponse {
    try await client.post(
      "/oauth/token",
      form: [
        ("client_id", id), ("client_secret", secret), ("grant_type", "refresh_token"), ("refresh_token", "x"),
      ])
  }

  @Test func `a source of wrong secrets gets 429 for known and unknown clients, while right secrets and apps pass`()
    async throws
  {
    let lines = Locked<[String]>([])
    let service = try await TestService(log: ServiceLog { _, event, _ in lines.withLock { $0.append("\(event)") } })
    let statement = try await service.statement()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let box = try await OAuthBox(service, client, .body)
      let tokens = try await box.pair()
      for number in 0..<60 {
        let answer = try await wrong(client, number.isMultiple(of: 2) ? box.id : Random.uuid())
        #expect(answer.status == 401)
        #expect(answer.error == "invalid_client")
      }
      let known = try await wrong(client, box.id)
      let unknown = try await wrong(client, Random.uuid())
      for answer in [known, unknown] {
        #expect(answer.status == 429)
        #expect(answer.error == "temporarily_unavailable")
      }
      #expect(known.text == unknown.text && known.header("retry-after") == unknown.header("retry-after"))
      // The other endpoints reveal no more.
      for path in ["device_authorization", "introspect", "revoke"] {
        let answer = try await client.post(
          "/oauth/" + path, form: [("client_id", box.id), ("client_secret", "wrong"), ("token", "x")])
        #expect(answer.status == 429, "\(path)")
      }
      #expect(try await client.get("/oauth/register/\(box.id)", headers: [bearer("x")]).status == 429)
      #expect(lines.withLock { $0.count { $0 == "wrong-client" } } == 60)
      // Apps of the same household can register, and the client itself still works.
      #expect(try await client.register(statement).status == 201)
      #expect(try await box.refresh(try #require(tokens.refresh)).status == 200)
      service.clock.pass(.seconds(600))
      #expect(try await wrong(client, box.id).status == 401)
    }
  }

  @Test func `wrong software statements do not limit OAuth clients`() async throws {
    let service = try await TestService()
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      for _ in 0..<60 { _ = try await client.register("x") }
      #expect(try await client.register("x").status == 429)
      #expect(try await wrong(client, Random.uuid()).status == 401)
    }
  }
}
