import HTTPTestSupport
import PairingStore
import RegentCryptography
import RegentJSON
import RegentOAuth
import RegentPairing
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

/// Runs a test body with an in-process client of the service's device routes.
func withOAuth(
  _ service: TestService, _ body: (any TestClient) async throws -> Void
) async throws {
  try await TestTransport.inProcess.withClient(of: try service.router(), body)
}

@Suite struct `Pairing over OAuth` {
  @Test(arguments: TestTransport.allCases, OAuthBox.Way.allCases)
  func `a device code is pending, then approved, then redeemed, and its tokens can be refreshed`(
    transport: TestTransport, way: OAuthBox.Way
  ) async throws {
    let service = try await TestService()
    try await transport.withClient(of: try service.router()) { client in
      let box = try await OAuthBox(service, client, way)
      let code = try await box.begin()
      let early = try await box.ask(code.device)
      #expect(early.status == 400)
      #expect(early.error == "authorization_pending")
      #expect(early.header("cache-control") == "no-store")
      try await service.approve(code.user)
      let answer = try await box.ask(code.device)
      #expect(answer.status == 200, "\(answer.text)")
      #expect(answer.header("cache-control") == "no-store")
      #expect(answer.header("pragma") == "no-cache")
      let tokens = try Tokens(answer)
      #expect(tokens.kind == "Bearer")
      #expect(tokens.scope == "openid profile offline_access entitlements")
      #expect(tokens.identity != nil)
      let next = try Tokens(try await box.refresh(try #require(tokens.refresh)))
      #expect(next.access != tokens.access)
      #expect(next.refresh != tokens.refresh)
      // The sign-in appears in the list like any other, named after the client.
      let signIns = try await service.core.store.authentications(
        AuthenticationFilter(), after: nil, limit: 10, at: service.clock.now)
      #expect(signIns.map(\.about.name) == ["Kodi"])
    }
  }

  @Test func `the device authorization response has all members of RFC 8628`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let answer = try await box.post("device_authorization", [("scope", "openid unknown")])
      let object = try answer.json()
      #expect(answer.header("cache-control") == "no-store")
      #expect(try object.int64("expires_in") == 1800)
      #expect(try object.int64("interval") == 5)
      #expect(try object.string("verification_uri") == "https://tv.example.org")
      let user = try object.string("user_code")
      let complete = try object.string("verification_uri_complete")
      #expect(complete.hasPrefix("HTTPS://TV.EXAMPLE.ORG/D/\(user.filter { $0 != "-" })."))
      let device = try object.string("device_code")
      // Clients that escape nothing in forms must be able to send the code.
      #expect(device.utf8.allSatisfy { $0 < 0x7F && ($0 > 0x2F || $0 == 0x2D) && $0 != 0x3D })
    }
  }

  @Test func `a parked token request completes when the viewer approves`() async throws {
    let service = try await TestService()
    try await TestTransport.socket.withClient(of: try service.router()) { client in
      let box = try await OAuthBox(service, client)
      let code = try await box.begin()
      async let held = box.ask(code.device, headers: [("Prefer", "wait=30")])
      try await eventually("the token request is parked") { service.core.waiters.count == 1 }
      try await service.approve(code.user)
      let answer = try await held
      #expect(answer.status == 200, "\(answer.text)")
      #expect(answer.header("preference-applied") == "wait=30")
    }
  }

  @Test func `a denied, withdrawn or expired code ends its token requests with the right error`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let denied = try await box.begin()
      try await service.deny(denied.user)
      #expect(try await box.ask(denied.device).error == "access_denied")
      let withdrawn = try await box.begin()
      _ = try await service.core.codeTransitions.withdraw(
        try service.found(withdrawn.user), .operator, audit: nil)
      #expect(try await box.ask(withdrawn.device).error == "expired_token")
      let late = try await box.begin()
      _ = try await box.ask(late.device)
      service.clock.pass(.seconds(1800))
      // Expiry is reported before slow_down.
      #expect(try await box.ask(late.device).error == "expired_token")
      #expect(try await box.ask(late.device).error == "expired_token")
    }
  }

  @Test func `a client that polls too early is told to slow down, and one that keeps the interval is not`() async throws
  {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let code = try await box.begin()
      #expect(try await box.ask(code.device).error == "authorization_pending")
      #expect(try await box.ask(code.device).error == "slow_down")
      for pause in [5000, 4100, 5900, 4000, 6000] {
        service.clock.pass(.milliseconds(pause))
        #expect(try await box.ask(code.device).error == "authorization_pending")
      }
      for _ in 0..<5 {
        service.clock.pass(.seconds(2))
        #expect(try await box.ask(code.device).error == "slow_down")
      }
      // The wall clock does not affect the interval.
      service.clock.setAhead(.seconds(-3600))
      service.clock.pass(.seconds(5))
      #expect(try await box.ask(code.device).error == "authorization_pending")
      service.clock.setAhead(.zero)
      // An approval is reported although the client polls too early.
      try await service.approve(code.user)
      #expect(try await box.ask(code.device).status == 200)
    }
  }

  @Test func `the metadata documents name all endpoints, also when the service has a path prefix`() async throws {
    let service = try await TestService(options: { $0.publicURL = "https://tv.example.org/tv" })
    try await TestTransport.inProcess.withClient(of: try await service.phoneRouter()) { client in
      let below = try await client.get("/tv/oauth/.well-known/openid-configuration").json()
      let inserted = try await client.get("/.well-known/oauth-authorization-server/tv/oauth").json()
      #expect(below == inserted)
      #expect(try below.string("issuer") == "https://tv.example.org/tv/oauth")
      #expect(try below.string("jwks_uri") == "https://tv.example.org/tv/oauth/keys")
      #expect(try await client.get("/.well-known/oauth-authorization-server/oauth").status == 404)
      for name in ["token_endpoint", "device_authorization_endpoint", "introspection_endpoint", "revocation_endpoint"] {
        let path = try below.string(name).dropFirst("https://tv.example.org".count)
        #expect(try await client.post(String(path)).status != 404, "\(name)")
      }
      let authorize = try await client.get("/tv/oauth/authorize?response_type=code")
      #expect(authorize.error == "unsupported_response_type")
    }
  }

  @Test func `media keys and OAuth keys are published in separate key sets`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let before = try await client.get("/oauth/jwks.json").text
      let tokens = try await OAuthBox(service, client).pair()
      #expect(try await client.get("/oauth/jwks.json").text == before)
      let published = try await client.get("/oauth/keys").text
      let header = try UnverifiedJWS(tokens.access)
      #expect(published.contains(try #require(header.keyID)))
      #expect(!before.contains(try #require(header.keyID)))
      #expect(header.algorithm == "ES256")
    }
  }
}

@Suite struct `OAuth tokens of a grant` {
  @Test func `an API of the same requestor can introspect an access token, but no refresh token`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let tokens = try await box.pair()
      let api = try await OAuthBox(service, client, .basic)
      let worth = try await api.introspect(tokens.access)
      #expect(worth["active"] == true)
      #expect(try worth.string("client_id") == box.id)
      #expect(try worth.string("aud") == "https://tv.example.org")
      let userinfo = try await client.get("/oauth/userinfo", headers: [bearer(tokens.access)])
      #expect(userinfo.status == 200)
      #expect(try userinfo.json().string("sub") == worth.string("sub"))
      // A refresh token is active only for its own client.
      let refresh = try #require(tokens.refresh)
      #expect(try await api.introspect(refresh) == ["active": false])
      #expect(try await api.introspect("nonsense") == ["active": false])
    }
  }

  @Test func `tokens stop working with a disabled account and end with a revocation`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let api = try await OAuthBox(service, client, .basic)
      let tokens = try await box.pair()
      let refresh = try #require(tokens.refresh)
      try await service.disable(Sample.account)
      #expect(try await api.introspect(tokens.access) == ["active": false])
      #expect(try await client.get("/oauth/userinfo", headers: [bearer(tokens.access)]).status == 401)
      #expect(try await box.refresh(refresh).error == "temporarily_unavailable")
      try await service.disable(Sample.account, false)
      #expect(try await api.introspect(tokens.access)["active"] == true)
      // The service ignores a wrong token type hint.
      let revoked = try await box.post("revoke", [("token", refresh), ("token_type_hint", "access_token")])
      #expect(revoked.status == 200)
      #expect(try await api.introspect(tokens.access) == ["active": false])
      #expect(try await box.refresh(refresh).error == "invalid_grant")
      #expect(try await box.post("revoke", [("token", "nonsense")]).status == 200)
      let left = try await service.core.store.authentications(
        AuthenticationFilter(), after: nil, limit: 10, at: service.clock.now)
      #expect(left.isEmpty)
    }
  }

  @Test func `an account that is disabled between approval and redemption gets no tokens`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let code = try await box.begin()
      try await service.approve(code.user)
      try await service.disable(Sample.account)
      #expect(try await box.ask(code.device).error == "access_denied")
      service.clock.pass(.seconds(1800))
      #expect(try await box.ask(code.device).error == "expired_token")
    }
  }

  @Test func `a lost response is given again for a minute, and later reuse ends the grant`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let code = try await box.begin()
      try await service.approve(code.user)
      let first = try Tokens(try await box.ask(code.device))
      #expect(try Tokens(try await box.ask(code.device)) == first)
      let old = try #require(first.refresh)
      let second = try Tokens(try await box.refresh(old))
      service.clock.pass(.seconds(60))
      #expect(try Tokens(try await box.refresh(old)) == second)
      // This holds after a restart, too: the response is stored encrypted.
      let restarted = try await TestService(restarting: service, on: service.core.store)
      try await withOAuth(restarted) { client in
        let again = try await client.post(
          "/oauth/token",
          form: [("grant_type", "refresh_token"), ("refresh_token", old), ("client_id", box.id)])
        #expect(try Tokens(again) == second)
      }
      service.clock.pass(.seconds(1))
      #expect(try await box.refresh(old).error == "invalid_grant")
      #expect(try await box.refresh(try #require(second.refresh)).error == "invalid_grant")
      let lines = try await service.auditActions()
      #expect(lines.contains("grant.end"))
      #expect(service.core.metrics.now[.refreshTokensReused] == 1)
    }
  }

  @Test func `a refresh may narrow the scope and never widen it`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let tokens = try await box.pair([("scope", "openid offline_access")])
      let refresh = try #require(tokens.refresh)
      #expect(try await box.refresh(refresh, [("scope", "openid entitlements")]).error == "invalid_scope")
      let narrow = try Tokens(try await box.refresh(refresh, [("scope", "openid")]))
      #expect(narrow.scope == "openid")
      let wide = try Tokens(try await box.refresh(try #require(narrow.refresh)))
      #expect(wide.scope == "openid offline_access")
      service.clock.pass(.seconds(30 * 86_400))
      #expect(try await box.refresh(try #require(wide.refresh)).error == "invalid_grant")
    }
  }

  @Test func `DPoP-bound tokens are refused without a proof of their key`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      var box = try await OAuthBox(service, client)
      box.proofKey = try SigningKey.generate(.es256)
      let tokens = try await box.pair()
      #expect(tokens.kind == "DPoP")
      let bare = try await client.get("/oauth/userinfo", headers: [bearer(tokens.access)])
      #expect(bare.error == "invalid_token")
      func look(_ key: SigningKey) async throws -> TestResponse {
        try await client.get(
          "/oauth/userinfo",
          headers: [
            ("Authorization", "DPoP \(tokens.access)"),
            ("DPoP", try box.proof("userinfo", key, method: "GET", token: tokens.access)),
          ])
      }
      #expect(try await look(try #require(box.proofKey)).status == 200)
      #expect(try await look(try SigningKey.generate(.es256)).error == "invalid_token")
      var thief = box
      thief.proofKey = nil
      let refresh = try #require(tokens.refresh)
      #expect(try await thief.refresh(refresh).error == "invalid_grant")
      let next = try await box.refresh(refresh)
      #expect(next.status == 200, "\(next.text)")
      // With the right key a lost response is given again for ten minutes.
      service.clock.pass(.seconds(600))
      #expect(try Tokens(try await box.refresh(refresh)) == Tokens(next))
    }
  }

  @Test func `a box with a wrong clock is told the DPoP nonce and then succeeds`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      var box = try await OAuthBox(service, client)
      box.proofKey = try SigningKey.generate(.es256)
      let target = try #require(ProofTarget("\(OAuthBox.issuer)/device_authorization"))
      let proof = try DPoPProof.make(
        for: .init(method: "POST", target: target), with: try #require(box.proofKey), nonce: nil,
        at: service.clock.now + .seconds(86_400))
      let told = try await client.post(
        "/oauth/device_authorization", form: [("client_id", box.id)], headers: [("DPoP", proof)])
      #expect(told.error == "use_dpop_nonce")
      let nonce = try #require(told.header("dpop-nonce"))
      box.proofNonce = nonce
      _ = try await box.begin()
      // A nonce of the day before is no longer valid.
      service.clock.pass(.seconds(86_400))
      #expect(try await box.post("device_authorization", []).error == "use_dpop_nonce")
    }
  }
}

extension TestService {
  /// The actions in the audit log, after all pending lines are written.
  func auditActions() async throws -> [String] {
    try await eventually("all audit lines are written") { self.core.audit.linesUnderWay == 0 }
    return try await core.store.audit(after: 0, limit: 1000).map(\.entry.action)
  }
}

@Suite struct `Access tokens with the scope entitlements` {
  @Test func `a token with the scope entitlements authorizes titles on its own device only`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let tokens = try await box.pair()
      let shown = [bearer(tokens.access)]
      #expect(try await client.get("/api/v1/authorize?resource=news&format=json", headers: shown).status == 200)
      #expect(try await client.get("/api/v1/preauthorize?resource=news&format=json", headers: shown).status == 200)
      let media = try await client.get("/api/v1/tokens/media?resource=news&format=json", headers: shown)
      #expect(media.status == 200, "\(media.text)")
      #expect(try await client.get("/api/v1/tokens/usermetadata?format=json", headers: shown).status == 200)
      // Another device or another requestor is refused.
      let other = try await client.get("/api/v1/authorize?resource=news&deviceId=box-2&format=json", headers: shown)
      #expect(other.status == 400)
      let foreign = try await client.get(
        "/api/v1/authorize?resource=news&requestor=OTHER&format=json", headers: shown)
      #expect(foreign.status == 400)
      // Calls outside the scope refuse the token.
      let code = try await client.post("/reggie/v1/REF30/regcode?deviceId=x", headers: shown)
      #expect(code.status == 400)
      // A sign-out ends the grant with its refresh token.
      #expect(try await client.get("/api/v1/logout", headers: shown).status == 204)
      #expect(try await client.get("/api/v1/authorize?resource=news&format=json", headers: shown).status == 401)
      #expect(try await box.refresh(try #require(tokens.refresh)).error == "invalid_grant")
    }
  }

  @Test func `a token of another scope, audience or protocol is refused`() async throws {
    let service = try await TestService()
    let statement = try await service.statement()
    try await withOAuth(service) { client in
      let narrow = try await OAuthBox(service, client, scope: "openid").pair()
      let call = "/api/v1/authorize?resource=news&format=json"
      let refused = try await client.get(call, headers: [bearer(narrow.access)])
      #expect(refused.status == 403)
      #expect(refused.error == "insufficient_scope")
      let elsewhere = try await OAuthBox(service, client, audience: "https://api.example.org").pair()
      #expect(try await client.get(call, headers: [bearer(elsewhere.access)]).status == 401)
      let access = try await client.access(statement)
      #expect(try await client.get("/oauth/userinfo", headers: [bearer(access)]).status == 401)
      let api = try await OAuthBox(service, client, .basic)
      #expect(try await api.introspect(access) == ["active": false])
    }
  }

  @Test func `a DPoP-bound token is refused as a Bearer token, and its proof works only once`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      var box = try await OAuthBox(service, client)
      let key = try SigningKey.generate(.es256)
      box.proofKey = key
      let tokens = try await box.pair()
      let call = "/api/v1/authorize?resource=news&format=json"
      #expect(try await client.get(call, headers: [bearer(tokens.access)]).status == 401)
      let target = try #require(ProofTarget("https://tv.example.org/api/v1/authorize"))
      let proof = try DPoPProof.make(
        for: .init(method: "GET", target: target, accessToken: tokens.access), with: key,
        nonce: service.core.oauth.proofs.nonce(service.core.clock), at: service.clock.now)
      let shown = [(name: "Authorization", value: "DPoP \(tokens.access)"), (name: "DPoP", value: proof)]
      #expect(try await client.get(call, headers: shown).status == 200)
      #expect(try await client.get(call, headers: shown).status == 401)
    }
  }
}
