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

@Suite struct `Attacks on OAuth clients` {
  @Test func `a client cannot redeem or spoil the device code of another client (Keycloak CVE-2023-2585)`() async throws
  {
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

  /// Otherwise a holder of the device code would have all rights of the account, not only those granted to the client.
  @Test func `a device code is no device id of protocol V1, and admin lists show only its first half`() async throws {
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

  @Test func `64 concurrent redemptions or refreshes all get the same set of tokens`() async throws {
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
      // After ten seconds the rate limit of the device allows as many requests again.
      service.clock.pass(.seconds(10))
      let refresh = try #require(sets.first?.refresh)
      let next = try await withThrowingTaskGroup(of: Tokens.self) { group in
        for _ in 0..<64 { group.addTask { try Tokens(try await box.refresh(refresh)) } }
        return try await group.reduce(into: Set<Tokens>()) { $0.insert($1) }
      }
      #expect(next.count == 1)
      // After the retry window of a minute the code is used up.
      service.clock.pass(.seconds(61))
      #expect(try await box.ask(code.device).error == "invalid_grant")
    }
  }

  @Test func `a repeated parameter or two ways of client authentication in one request are refused`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client, .body)
      let code = try await box.begin()
      #expect(try await box.ask(code.device, [("device_code", code.device)]).error == "invalid_request")
      #expect(try await box.ask(code.device, [("scope", "openid"), ("scope", "openid")]).error == "invalid_request")
      let both = try await box.ask(
        code.device, headers: [("Authorization", "Basic " + base64("\(box.id):\(box.secret)"))])
      #expect(both.error == "invalid_request")
      // An empty parameter counts as absent, and an unknown one is ignored (RFC 6749, section 3.1).
      #expect(
        try await box.ask(code.device, [("code", "x"), ("client_info", "1"), ("claims", "")]).error
          == "authorization_pending")
      let form = try await client.get("/oauth/token?grant_type=refresh_token&client_id=\(box.id)")
      #expect(form.status == 405)
    }
  }

  @Test func `a confidential client without its right secret is refused at every step`() async throws {
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

  @Test func `a client assertion that is replayed, has another audience or another key is refused`() async throws {
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

  @Test func `a token of one kind is not accepted as another kind`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let api = try await OAuthBox(service, client, .basic)
      let tokens = try await box.pair()
      let identity = try #require(tokens.identity)
      #expect(try await api.introspect(identity) == ["active": false])
      #expect(try await client.get("/oauth/userinfo", headers: [bearer(identity)]).error == "invalid_token")
      // Even when signed with the service's own key, a token of another type is refused.
      let (keyID, key) = try #require(service.core.oauth.keys.current(.es256, at: service.clock.now))
      let payload = try #require(try UnverifiedJWS(tokens.access).unverifiedClaims).bytes()
      for type in ["JWT", "dpop+jwt", nil] {
        let text = try JWS.sign(payload, with: key, keyID: keyID.text, type: type)
        #expect(try await api.introspect(text) == ["active": false])
      }
      #expect(
        try await api.introspect(try JWS.sign(payload, with: key, keyID: keyID.text, type: "at+jwt"))["active"] == true)
      // A token signed with a key for media tokens is refused.
      let (mediaID, media) = try #require(service.core.mediaKeys.current(at: service.clock.now))
      let text = try JWS.sign(payload, with: media, keyID: mediaID.text, type: "at+jwt")
      #expect(try await api.introspect(text) == ["active": false])
      // A refresh token is not accepted as an access token.
      #expect(try await client.get("/oauth/userinfo", headers: [bearer(try #require(tokens.refresh))]).status == 401)
    }
  }

  @Test func `public clients and clients of other requestors learn nothing about tokens`() async throws {
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
      // The refused attempts of other clients have not ended the grant.
      #expect(try await box.refresh(try #require(tokens.refresh)).status == 200)
    }
  }

  @Test func `a DPoP proof that is replayed, or made for another request or key, is refused`() async throws {
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
      // A code requested with a proof is bound to the key of that proof.
      var bound = box
      bound.proofKey = key
      let code = try await bound.begin()
      try await service.approve(code.user)
      #expect(try await box.ask(code.device).error == "invalid_grant")
      #expect(try await bound.ask(code.device).status == 200)
    }
  }

  @Test func `a code with a challenge is redeemed only with its verifier (RFC 7636)`() async throws {
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
      // A verifier without a challenge is refused: an attacker may have removed the challenge on the way.
      let bare = try await box.begin()
      try await service.approve(bare.user)
      #expect(try await box.ask(bare.device, [("code_verifier", verifier)]).error == "invalid_grant")
    }
  }

  @Test func `a browser that did not open the code cannot approve it (better-auth GHSA-cq3f-vc6p-68fh)`() async throws {
    let service = try await TestService()
    try await service.addAccount("second")
    try await TestTransport.inProcess.withClient(of: try await service.phoneRouter()) { client in
      let box = try await OAuthBox(service, client)
      let asked = try await box.begin()
      let code = asked.user.replacing("-", with: "")
      var owner = PhoneBrowser(client)
      try await owner.reachApproval(code)
      // A second signed-in browser knows the code and posts with its own session and its own form token.
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

  @Test func `a proof or an assertion with an id of a megabyte is refused and stores nothing`() async throws {
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
      // A header of a megabyte is refused with its connection. One of 4000 bytes arrives and is no valid proof.
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

  @Test func `a late approval does not revive an expired code`() async throws {
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
