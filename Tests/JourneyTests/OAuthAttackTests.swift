import HTTPTestSupport
import PairingStore
import RegentCryptography
import RegentEncodings
import RegentJSON
import RegentOAuth
import RegentPairing
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

@Suite struct `who attacks clients of OAuth` {
  @Test func `redeems nobody else's code, and does not spoil it (Keycloak CVE-2023-2585)`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let other = try await OAuthBox(service, client, .basic)
      let code = try await box.begin()
      #expect(try await other.ask(code.device).error == "invalid_grant")
      try await service.approve(code.user)
      #expect(try await other.ask(code.device).error == "invalid_grant")
      #expect(try await box.ask(code.device).status == 200)
    }
  }

  /// It would have what the viewer gave the client, and everything else that the account may watch.
  @Test func `is no device of protocol V1 by its code, and no list shows that`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client, scope: "openid")
      let admin = try AdminSocket(service.core)
      let code = try await box.begin()
      let device = Box(service: service, client: client, device: code.device)
      let half = try #require(code.device.split(separator: "_").first)
      let waiting = try await admin.send("GET", "/v1/codes").text
      #expect(waiting.contains(half) && !waiting.contains(code.device))
      #expect(try await device.send("DELETE", "/reggie/v1/REF30/regcode/\(code.user)").status != 204)
      try await service.approve(code.user)
      for isRedeemed in [false, true] {
        if isRedeemed { #expect(try await box.ask(code.device).status == 200) }
        #expect(try await device.get("/api/v1/tokens/authn").status != 200)
        #expect(try await device.authorize("news").status != 200)
        #expect(try await device.media("news").status != 200)
        let signedIn = try await admin.send("GET", "/v1/sign-ins").text
        #expect(signedIn.contains(half) && !signedIn.contains(code.device))
      }
    }
  }

  @Test func `gets one set of tokens from 64 questions at once`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let code = try await box.begin()
      try await service.approve(code.user)
      let sets = try await withThrowingTaskGroup(of: Tokens.self) { group in
        for _ in 0..<64 { group.addTask { try Tokens(try await box.ask(code.device)) } }
        return try await group.reduce(into: Set<Tokens>()) { $0.insert($1) }
      }
      #expect(sets.count == 1)
      // One device may do as much again.
      service.clock.pass(.seconds(10))
      let refresh = try #require(sets.first?.refresh)
      let next = try await withThrowingTaskGroup(of: Tokens.self) { group in
        for _ in 0..<64 { group.addTask { try Tokens(try await box.refresh(refresh)) } }
        return try await group.reduce(into: Set<Tokens>()) { $0.insert($1) }
      }
      #expect(next.count == 1)
      // Later the code is used up.
      service.clock.pass(.seconds(61))
      #expect(try await box.ask(code.device).error == "invalid_grant")
    }
  }

  @Test func `says nothing twice, and shows itself in one way`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client, .body)
      let code = try await box.begin()
      #expect(try await box.ask(code.device, [("device_code", code.device)]).error == "invalid_request")
      #expect(try await box.ask(code.device, [("scope", "openid"), ("scope", "openid")]).error == "invalid_request")
      let both = try await box.ask(
        code.device, headers: [("Authorization", "Basic " + base64("\(box.id):\(box.secret)"))])
      #expect(both.error == "invalid_request")
      // Empty is missing, unknown is ignored.
      #expect(
        try await box.ask(code.device, [("code", "x"), ("client_info", "1"), ("claims", "")]).error
          == "authorization_pending")
      let form = try await client.get("/oauth/token?grant_type=refresh_token&client_id=\(box.id)")
      #expect(form.status == 405)
    }
  }

  @Test func `is no client without the right secret`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client, .basic)
      let wrong = try await client.post(
        "/oauth/device_authorization", headers: [("Authorization", "Basic " + base64("\(box.id):wrong"))])
      #expect(wrong.status == 401)
      #expect(wrong.error == "invalid_client")
      #expect(wrong.header("www-authenticate") == "Basic realm=\"client\"")
      let body = try await client.post(
        "/oauth/device_authorization", form: [("client_id", box.id), ("client_secret", "wrong")])
      #expect(body.status == 401)
      for way in [OAuthBox.Way.name, .emptyBasic] {
        var bare = box
        bare.way = way
        #expect(try await bare.post("device_authorization", []).error == "invalid_client")
        let code = try await box.begin()
        #expect(try await bare.ask(code.device).error == "invalid_client")
        try await service.approve(code.user)
        #expect(try await bare.ask(code.device).error == "invalid_client")
      }
    }
  }

  @Test func `uses no assertion twice, for another service, or of another`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client, .key)
      func send(_ assertion: String) async throws -> TestResponse {
        try await client.post(
          "/oauth/device_authorization",
          form: [
            ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
            ("client_assertion", assertion),
          ])
      }
      let one = try box.assertion()
      #expect(try await send(one).status == 200)
      #expect(try await send(one).error == "invalid_client")
      #expect(try await send(try box.assertion(audience: OAuthBox.issuer + "/token")).status == 200)
      #expect(try await send(try box.assertion(audience: "https://other.example.org")).error == "invalid_client")
      let other = try await OAuthBox(service, client, .key)
      let forged = JWS.self
      let claims: JSONObject = [
        "iss": .string(box.id), "sub": .string(box.id), "aud": .string(OAuthBox.issuer), "jti": "1",
        "exp": .integer(service.clock.now.milliseconds / 1000 + 60),
      ]
      let text = try forged.sign(claims.bytes(), with: try #require(other.key), keyID: "k", type: "JWT")
      #expect(try await send(text).error == "invalid_client")
    }
  }

  @Test func `turns no token into one of another kind`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let api = try await OAuthBox(service, client, .basic)
      let tokens = try await box.pair()
      let identity = try #require(tokens.identity)
      #expect(try await api.introspect(identity) == ["active": false])
      #expect(try await client.get("/oauth/userinfo", headers: [bearer(identity)]).error == "invalid_token")
      // Signed with our own key, and another kind nevertheless.
      let (keyID, key) = try #require(service.core.oauth.keys.current(.es256, at: service.clock.now))
      let payload = try #require(try UnverifiedJWS(tokens.access).unverifiedClaims).bytes()
      for type in ["JWT", "dpop+jwt", nil] {
        let text = try JWS.sign(payload, with: key, keyID: keyID.text, type: type)
        #expect(try await api.introspect(text) == ["active": false])
      }
      #expect(
        try await api.introspect(try JWS.sign(payload, with: key, keyID: keyID.text, type: "at+jwt"))["active"] == true)
      // A key of media tokens signs none of these.
      let (mediaID, media) = try #require(service.core.mediaKeys.current(at: service.clock.now))
      let text = try JWS.sign(payload, with: media, keyID: mediaID.text, type: "at+jwt")
      #expect(try await api.introspect(text) == ["active": false])
      // A refresh token is no access token, and the code is neither.
      #expect(try await client.get("/oauth/userinfo", headers: [bearer(try #require(tokens.refresh))]).status == 401)
    }
  }

  @Test func `of a public client learns nothing about tokens, nor one of another requestor`() async throws {
    let service = try await TestService()
    _ = try await service.core.store.put(
      .requestor(Requestor(id: try named("OTHER"), name: "Other")), replacing: nil, audit: nil, at: service.clock.now)
    try await service.core.refreshProvisioning()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let tokens = try await box.pair()
      #expect(try await box.post("introspect", [("token", tokens.access)]).error == "invalid_client")
      let stranger = try await OAuthBox(service, client, .basic, requestor: "OTHER")
      #expect(try await stranger.introspect(tokens.access) == ["active": false])
      let api = try await OAuthBox(service, client, .basic)
      #expect(try await api.post("revoke", [("token", tokens.access)]).error == "invalid_grant")
      #expect(try await api.refresh(try #require(tokens.refresh)).error == "invalid_grant")
      // Nobody's attempt has ended the grant.
      #expect(try await box.refresh(try #require(tokens.refresh)).status == 200)
    }
  }

  @Test func `uses no proof twice, in whatever spelling, and of no other key`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let key = try SigningKey.generate(.es256)
      let proof = try box.proof("device_authorization", key)
      func send(_ proof: String) async throws -> TestResponse {
        try await client.post(
          "/oauth/device_authorization", form: [("client_id", box.id)], headers: [("DPoP", proof)])
      }
      #expect(try await send(proof).status == 200)
      #expect(try await send(proof).error == "invalid_dpop_proof")
      #expect(try await send(try box.proof("token", key)).error == "invalid_dpop_proof")
      #expect(try await send(try box.proof("device_authorization", key, method: "GET")).error == "invalid_dpop_proof")
      // The code that was asked for with a key is that key's.
      var bound = box
      bound.proofKey = key
      let code = try await bound.begin()
      try await service.approve(code.user)
      #expect(try await box.ask(code.device).error == "invalid_grant")
      #expect(try await bound.ask(code.device).status == 200)
    }
  }

  @Test func `without what the challenge was made of gets nothing`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let verifier = Random.text(64, from: "abcdefghijklmnopqrstuvwxyz0123456789")
      let challenge = base64url(SHA256.hash(Array(verifier.utf8)))
      let code = try await box.begin([("code_challenge", challenge), ("code_challenge_method", "S256")])
      try await service.approve(code.user)
      #expect(try await box.ask(code.device).error == "invalid_request")
      #expect(try await box.ask(code.device, [("code_verifier", verifier + "x")]).error == "invalid_grant")
      #expect(try await box.ask(code.device, [("code_verifier", verifier)]).status == 200)
      let plain = try await box.post("device_authorization", [("code_challenge", challenge)])
      #expect(plain.error == "invalid_request")
      // A verifier that nobody asked for: the challenge got lost on the way.
      let bare = try await box.begin()
      try await service.approve(bare.user)
      #expect(try await box.ask(bare.device, [("code_verifier", verifier)]).error == "invalid_grant")
    }
  }

  @Test func `is not approved by a browser that did not take its code (better-auth GHSA-cq3f-vc6p-68fh)`() async throws
  {
    let service = try await TestService()
    try await service.addAccount("second")
    try await TestTransport.inProcess.withClient(of: try await service.phoneRouter()) { client in
      let box = try await OAuthBox(service, client)
      let asked = try await box.begin()
      let code = asked.user.replacing("-", with: "")
      var owner = PhoneBrowser(client)
      try await owner.reachApproval(code)
      // Another one knows the code, is signed in, and says yes with its own session and its own form.
      var other = PhoneBrowser(client)
      try await other.signIn("second")
      let token = other.formToken
      #expect(!token.isEmpty)
      for action in ["approve", "deny"] { try await other.post("/D/\(code)/\(action)", ["csrf": token]) }
      #expect(try await box.ask(asked.device).error == "authorization_pending")
      try await owner.send("approve")
      let signIn = try await service.core.store.authentications(
        AuthenticationFilter(), after: nil, limit: 9, at: service.clock.now)
      #expect(signIn.map(\.authentication.viewer.account?.text) == [Sample.account])
    }
  }

  @Test func `with an id of a megabyte, or a proof or an assertion around it, costs nothing`() async throws {
    let service = try await TestService()
    let long = String(repeating: "j", count: 1_000_000)
    try await TestTransport.socket.withClient(of: try service.router()) { client in
      var box = try await OAuthBox(service, client, .key)
      let form = [
        ("client_assertion_type", ClientAuthentication.assertionType),
        ("client_assertion", try box.assertion(id: long)),
      ]
      let answer = try? await client.post("/oauth/device_authorization", form: form)
      #expect(answer == nil || answer?.status == 413 || answer?.error == "invalid_client")
      // A header of that size ends the connection at the latest; what fits is no proof.
      let key = try SigningKey.generate(.es256)
      for id in [long, String(repeating: "j", count: 4000)] {
        let proof = try JWS.signEmbeddingKey(
          (["jti": .string(id), "htm": "POST", "htu": .string(OAuthBox.issuer + "/device_authorization")] as JSONObject)
            .bytes(), with: key, type: "dpop+jwt")
        let refused = try? await box.post("device_authorization", [], headers: [("DPoP", proof)])
        #expect(refused == nil || refused?.status == 431 || refused?.error == "invalid_dpop_proof")
      }
      #expect(service.core.oauth.proofs.count == 0)
      box.proofKey = key
      #expect(try await box.post("device_authorization", []).status == 200)
    }
  }

  @Test func `with a late yes brings no code back`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let code = try await box.begin()
      service.clock.pass(.seconds(1800))
      await #expect(throws: (any Error).self) { try await service.approve(code.user) }
      #expect(try await box.ask(code.device).error == "expired_token")
    }
  }
}

func base64url(_ bytes: [UInt8]) -> String { Base64URL.encode(bytes) }
