import HTTPTestSupport
import PairingStore
import RegentJSON
import RegentOAuth
import RegentPairing
import ServiceTestSupport
import Testing

@testable import PairingService

@Suite struct `Access tokens in unsupported places` {
  @Test func `a call that takes no OAuth token refuses it without naming a scope`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let tokens = try await OAuthBox(service, client).pair()
      for path in ["/api/v1/tokens/authn?format=json", "/reggie/v1/REF30/regcode/AAAA?format=json"] {
        let answer = try await client.get(path, headers: [bearer(tokens.access)])
        #expect(answer.status == 400, "\(path): \(answer.text)")
        #expect(answer.error == "invalid_request", "\(path): \(answer.text)")
        #expect(answer.header("www-authenticate") == nil)
      }
    }
  }

  @Test func `an access token is accepted once in a request, and only in the header`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let tokens = try await OAuthBox(service, client).pair()
      let shown = bearer(tokens.access)
      let form = [(name: "access_token", value: tokens.access)]
      let query = "/oauth/userinfo?access_token=\(tokens.access)"
      #expect(try await client.post("/oauth/userinfo", headers: [shown]).status == 200)
      #expect(try await client.post("/oauth/userinfo", form: [("other", "x")], headers: [shown]).status == 200)
      for answer in [
        try await client.get(query, headers: [shown]), try await client.post(query, headers: [shown]),
        try await client.post("/oauth/userinfo", form: form, headers: [shown]),
      ] {
        #expect(answer.status == 400, "\(answer.text)")
        #expect(answer.error == "invalid_request", "\(answer.text)")
      }
      // Where protocol V1 allows a token in the query, two tokens are refused in the format of V1.
      let call = "/api/v1/authorize?resource=news&format=json&access_token=\(tokens.access)"
      #expect(try await client.get(call, headers: [shown]).status == 400)
      // Alone in a query or form it is no credential at this endpoint, because both end up in logs.
      #expect(try await client.get(query).status == 401)
      #expect(try await client.post("/oauth/userinfo", form: form).status == 401)
    }
  }

  @Test func `userinfo refuses a token for another audience`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let elsewhere = try await OAuthBox(service, client, audience: "https://api.example.org").pair()
      let answer = try await client.get("/oauth/userinfo", headers: [bearer(elsewhere.access)])
      #expect(answer.status == 401)
      #expect(answer.error == "invalid_token")
    }
  }
}

@Suite struct `Lost responses to a refresh` {
  @Test func `a lost refresh response is given again with no more scope than the repeated request asks for`()
    async throws
  {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let refresh = try #require(try await box.pair().refresh)
      let all = try Tokens(try await box.refresh(refresh))
      #expect(try Tokens(try await box.refresh(refresh)) == all)
      let narrow = try Tokens(try await box.refresh(refresh, [("scope", "openid")]))
      #expect(narrow.scope == "openid")
      #expect(narrow.refresh == all.refresh)
      let little = try await client.get("/api/v1/authorize?resource=news", headers: [bearer(narrow.access)])
      #expect(little.error == "insufficient_scope")
      #expect(try await client.get("/oauth/userinfo", headers: [bearer(narrow.access)]).status == 200)
      #expect(try await box.refresh(refresh, [("scope", "openid email")]).status == 200)
      #expect(try await box.refresh(refresh, [("scope", "email")]).error == "invalid_scope")
      // The stored response is unchanged, because the grant still covers the whole scope.
      #expect(try Tokens(try await box.refresh(refresh)) == all)
      // A refresh that first asked for a narrow scope is repeated with that scope, although the grant covers more.
      let next = try Tokens(try await box.refresh(try #require(all.refresh), [("scope", "openid")]))
      #expect(try Tokens(try await box.refresh(try #require(all.refresh))) == next)
      // During a pause no new token is made, so only the scope of the first request can be had.
      try await service.disable(Sample.account)
      #expect(try Tokens(try await box.refresh(try #require(all.refresh), [("scope", "openid profile")])) == next)
      let other = try await box.refresh(try #require(all.refresh), [("scope", "profile")])
      #expect(other.error == "invalid_scope")
    }
  }
}
