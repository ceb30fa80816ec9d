import HTTPTestSupport
import PairingStore
import RegentJSON
import RegentOAuth
import RegentPairing
import ServiceTestSupport
import Testing

@testable import PairingService

@Suite struct `an access token that is used where, or how, it is not taken` {
  @Test func `is told so, and not which scope would help: none does`() async throws {
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

  @Test func `counts once in a request, in the header alone`() async throws {
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
      // Where a token of protocol V1 may be in the address, two are refused in its words.
      let call = "/api/v1/authorize?resource=news&format=json&access_token=\(tokens.access)"
      #expect(try await client.get(call, headers: [shown]).status == 400)
      // Alone it is no credential here: addresses and forms end in logs.
      #expect(try await client.get(query).status == 401)
      #expect(try await client.post("/oauth/userinfo", form: form).status == 401)
    }
  }

  @Test func `opens no userinfo when it is for another API`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let elsewhere = try await OAuthBox(service, client, audience: "https://api.example.org").pair()
      let answer = try await client.get("/oauth/userinfo", headers: [bearer(elsewhere.access)])
      #expect(answer.status == 401)
      #expect(answer.error == "invalid_token")
    }
  }
}

@Suite struct `an answer of a refresh that got lost` {
  @Test func `is given again for no more than is asked for the second time`() async throws {
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
      // What was kept stays: the grant may have all of it.
      #expect(try Tokens(try await box.refresh(refresh)) == all)
      // One that asked for little is given that, and no more, although more was granted.
      let next = try Tokens(try await box.refresh(try #require(all.refresh), [("scope", "openid")]))
      #expect(try Tokens(try await box.refresh(try #require(all.refresh))) == next)
      // In a pause nothing new is made: what was asked for the first time can be had.
      try await service.disable(Sample.account)
      #expect(try Tokens(try await box.refresh(try #require(all.refresh), [("scope", "openid profile")])) == next)
      let other = try await box.refresh(try #require(all.refresh), [("scope", "profile")])
      #expect(other.error == "invalid_scope")
    }
  }
}
