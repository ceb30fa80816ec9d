import HTTPTestSupport
import PairingStore
import RegentCryptography
import RegentJSON
import RegentPairing
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

/// What an operator disables for a while.
enum Switch: Sendable, CaseIterable {
  case account, integration

  func set(_ isOn: Bool, _ service: TestService) async throws {
    switch self {
    case .account: try await service.disable(Sample.account, !isOn)
    case .integration:
      let records = service.core.provisioning.now.records
      let there = try #require(records.integrations[try named(Sample.requestor)]?[try named(Sample.provider)])
      var changed = there
      changed.enabled = isOn
      _ = try await service.core.store.put(
        .integration(changed), replacing: .integration(there), audit: nil, at: service.clock.now)
      try await service.core.refreshProvisioning()
    }
  }
}

@Suite struct `Grants with a disabled account or integration` {
  @Test(arguments: Switch.allCases)
  func `a paused grant gives no access, and works again when the pause ends`(what: Switch) async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let api = try await OAuthBox(service, client, .basic)
      let tokens = try await box.pair()
      let refresh = try #require(tokens.refresh)
      try await what.set(false, service)
      #expect(try await api.introspect(tokens.access) == ["active": false])
      #expect(try await box.post("introspect", [("token", refresh)]).error == "invalid_client")
      let userinfo = try await client.get("/oauth/userinfo", headers: [bearer(tokens.access)])
      #expect(userinfo.status == 401)
      #expect(userinfo.error == "invalid_token")
      let call = "/api/v1/authorize?resource=news&format=json"
      #expect(try await client.get(call, headers: [bearer(tokens.access)]).status == 401)
      for _ in 0..<2 {
        let answer = try await box.refresh(refresh)
        #expect(answer.status == 503)
        #expect(answer.error == "temporarily_unavailable")
        #expect(answer.header("retry-after") == "60")
      }
      // Another client that has the token does not learn of the pause.
      #expect(try await api.refresh(refresh).error == "invalid_grant")
      try await what.set(true, service)
      #expect(try await api.introspect(tokens.access)["active"] == true)
      let next = try Tokens(try await box.refresh(refresh))
      #expect(service.core.metrics.now[.refreshesRepeated] == 0)
      // A response that was lost before the pause is given again during it, and its tokens give no access. Otherwise
      // the client would follow the 503, retry after a minute, and be past the retry window.
      try await what.set(false, service)
      #expect(try Tokens(try await box.refresh(refresh)) == next)
      #expect(try await api.introspect(next.access) == ["active": false])
      service.clock.pass(.seconds(61))
      #expect(try await box.refresh(try #require(next.refresh)).error == "temporarily_unavailable")
      try await what.set(true, service)
      #expect(try await box.refresh(try #require(next.refresh)).status == 200)
    }
  }

  @Test(arguments: Switch.allCases)
  func `a paused grant is ended by a revocation and by reuse of an old refresh token`(what: Switch) async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let other = try await OAuthBox(service, client)
      let left = try await box.pair()
      let stolen = try await box.pair()
      let second = try Tokens(try await box.refresh(try #require(stolen.refresh)))
      service.clock.pass(.seconds(61))
      try await what.set(false, service)
      #expect(try await other.post("revoke", [("token", try #require(left.refresh))]).error == "invalid_grant")
      #expect(try await box.post("revoke", [("token", try #require(left.refresh))]).status == 200)
      #expect(try await box.refresh(try #require(left.refresh)).error == "invalid_grant")
      #expect(try await box.refresh(try #require(stolen.refresh)).error == "invalid_grant")
      try await what.set(true, service)
      for token in [left.refresh, second.refresh] {
        #expect(try await box.refresh(try #require(token)).error == "invalid_grant")
      }
      #expect(try await service.core.store.grants(GrantFilter(), after: nil, limit: 9, at: service.clock.now).isEmpty)
    }
  }

  @Test func `a code whose account is disabled after the approval is refused at once`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let code = try await box.begin()
      try await service.approve(code.user)
      try await Switch.account.set(false, service)
      #expect(try await box.ask(code.device).error == "access_denied")
      #expect(try await service.core.store.grants(GrantFilter(), after: nil, limit: 9, at: service.clock.now).isEmpty)
      // After the operator enables the account again, the same code is redeemed.
      try await Switch.account.set(true, service)
      #expect(try await box.ask(code.device).status == 200)
      // The response that was lost before the account was disabled is given again.
      try await Switch.account.set(false, service)
      #expect(try await box.ask(code.device).status == 200)
    }
  }

  @Test func `an approved code stays pending while its integration is disabled`() async throws {
    let service = try await TestService()
    let what = Switch.integration
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let code = try await box.begin()
      try await service.approve(code.user)
      try await what.set(false, service)
      #expect(try await box.ask(code.device).error == "authorization_pending")
      #expect(try await box.ask(code.device).error == "slow_down")
      service.clock.pass(.seconds(5))
      #expect(try await box.ask(code.device, headers: [("Prefer", "wait=30")]).error == "authorization_pending")
      #expect(try await service.core.store.grants(GrantFilter(), after: nil, limit: 9, at: service.clock.now).isEmpty)
      try await what.set(true, service)
      #expect(try await box.ask(code.device).status == 200)
    }
  }

  @Test func `removing the account or the integration ends its grants, also when it is added again`() async throws {
    let service = try await TestService()
    let records = service.core.provisioning.now.records
    let there = try #require(records.integrations[try named(Sample.requestor)]?[try named(Sample.provider)])
    let account = try #require(
      try await service.core.store.account(try named(Sample.provider), try named(Sample.account)))
    for record in [Provision.integration(there), .account(account)] {
      try await withOAuth(service) { client in
        let box = try await OAuthBox(service, client)
        let tokens = try await box.pair()
        let code = try await box.begin()
        try await service.approve(code.user)
        // A device of protocol V1 is signed in as well.
        let query = "?deviceId=tv-1&format=json"
        let regcode = try await service.call(client, "POST", "/reggie/v1/REF30/regcode" + query)
        try await service.approve(try regcode.json().string("code"))
        func signedIn() async throws -> UInt16 {
          try await service.call(client, "GET", "/api/v1/tokens/authn" + query).status
        }
        #expect(try await signedIn() == 200)
        _ = try await service.core.store.remove(record.id, audit: nil, at: service.clock.now)
        try await service.core.refreshProvisioning()
        func ended() async throws {
          #expect(try await box.refresh(try #require(tokens.refresh)).error == "invalid_grant")
          #expect(try await box.ask(code.device).error == "invalid_grant")
          #expect(try await signedIn() != 200)
          #expect(
            try await client.get("/oauth/userinfo", headers: [bearer(tokens.access)]).error == "invalid_token")
        }
        try await ended()
        _ = try await service.core.store.put(record, replacing: nil, audit: nil, at: service.clock.now)
        try await service.core.refreshProvisioning()
        try await ended()
        #expect(
          try await service.core.store.grants(GrantFilter(), after: nil, limit: 9, at: service.clock.now).isEmpty)
        #expect(try await box.post("revoke", [("token", tokens.access)]).status == 200)
      }
    }
  }

  @Test(arguments: Switch.allCases)
  func `a lost redemption response is given again during a pause`(what: Switch) async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let other = try await OAuthBox(service, client)
      let code = try await box.begin()
      try await service.approve(code.user)
      let first = try Tokens(try await box.ask(code.device))
      try await what.set(false, service)
      service.clock.pass(.seconds(5))
      let again = try await box.ask(code.device)
      #expect(again.status == 200, "\(again.text)")
      if again.status == 200 { #expect(try Tokens(again) == first) }
      #expect(try await client.get("/oauth/userinfo", headers: [bearer(first.access)]).status == 401)
      #expect(try await other.ask(code.device).error == "invalid_grant")
      #expect(try await box.refresh(try #require(first.refresh)).error == "temporarily_unavailable")
      // As without a pause, the code is refused a minute after it was redeemed.
      service.clock.pass(.seconds(61))
      #expect(try await box.ask(code.device).error == "invalid_grant")
      try await what.set(true, service)
      #expect(try await box.refresh(try #require(first.refresh)).status == 200)
    }
  }

  @Test(arguments: Switch.allCases)
  func `a pause longer than the idle time keeps a grant whose client tried to refresh`(what: Switch) async throws {
    try await withFileStore { store in
      for service in [try await TestService(), try await TestService(on: store)] {
        try await service.setLifetime(.seconds(200 * 86_400))
        try await withOAuth(service) { client in
          let box = try await OAuthBox(service, client)
          let (tries, forgets) = (try await box.pair(), try await box.pair())
          let stolen = try await box.pair()
          let held = try Tokens(try await box.refresh(try #require(stolen.refresh)))
          try await what.set(false, service)
          for _ in 0..<5 {
            service.clock.pass(.seconds(10 * 86_400))
            #expect(try await box.refresh(try #require(tries.refresh)).error == "temporarily_unavailable")
            _ = try await box.refresh(try #require(held.refresh))
          }
          try await what.set(true, service)
          let next = try Tokens(try await box.refresh(try #require(tries.refresh)))
          #expect(try await box.refresh(try #require(forgets.refresh)).error == "invalid_grant")
          // An attempt during the pause does not revive a replaced token, which a thief may hold.
          #expect(try await box.refresh(try #require(stolen.refresh)).error == "invalid_grant")
          #expect(try await box.refresh(try #require(held.refresh)).error == "invalid_grant")
          // The extension by attempts applies only to the pause.
          service.clock.pass(.seconds(31 * 86_400))
          #expect(try await box.refresh(try #require(next.refresh)).error == "invalid_grant")
        }
      }
    }
  }

  @Test func `refreshes of a paused grant have the same rate limit as others`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let other = try await OAuthBox(service, client).pair()
      let tokens = try await box.pair()
      try await Switch.account.set(false, service)
      var answers: [UInt16: Int] = [:]
      for _ in 0..<110 { answers[try await box.refresh(try #require(tokens.refresh)).status, default: 0] += 1 }
      #expect(answers[503, default: 0] <= 100 && answers[429, default: 0] >= 10, "\(answers)")
      _ = other
    }
  }

  @Test func `revoking an application withdraws the pending codes of its clients`() async throws {
    let service = try await TestService()
    let statement = try await service.statement()
    let admin = try AdminSocket(service.core)
    try await withOAuth(service) { client in
      let members: JSONObject = [
        "software_statement": .string(statement), "token_endpoint_auth_method": "none",
        "id_token_signed_response_alg": "ES256",
      ]
      let made = try await client.send(
        TestRequest(
          "POST", "/oauth/register", headers: [("Content-Type", "application/json")], body: members.bytes()))
      let form = [(name: "client_id", value: try made.json().string("client_id"))]
      let code = try await client.post("/oauth/device_authorization", form: form).json()
      let other = try await OAuthBox(service, client)
      let kept = try await other.begin()
      let revoked = try await admin.send("POST", "/v1/statements/app-1/revoke")
      #expect(revoked.status == 200, "\(revoked.text)")
      await #expect(throws: (any Error).self) { try await service.approve(try code.string("user_code")) }
      let answer = try await client.post(
        "/oauth/token",
        form: form + [("grant_type", OAuthBox.grant), ("device_code", try code.string("device_code"))])
      #expect(["expired_token", "invalid_client"].contains(answer.error), "\(answer.text)")
      try await service.approve(kept.user)
      #expect(try await other.ask(kept.device).status == 200)
    }
  }

  @Test func `removing a client withdraws its pending codes`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let other = try await OAuthBox(service, client)
      let (code, kept) = (try await box.begin(), try await other.begin())
      let line = service.core.audit.entry(.service, "client.remove", box.id)
      _ = try await service.core.signInTransitions.removeClient(try named(box.id), audit: line)
      await #expect(throws: (any Error).self) { try await service.approve(code.user) }
      #expect(try await box.ask(code.device).error == "expired_token")
      try await service.approve(kept.user)
      #expect(try await other.ask(kept.device).status == 200)
    }
  }
}

extension TestService {
  /// Sets how long viewers of the sample provider stay signed in.
  func setLifetime(_ lifetime: Duration) async throws {
    let there = try #require(
      core.provisioning.now.records.integrations[try named(Sample.requestor)]?[try named(Sample.provider)])
    var next = there
    next.settings.authenticationLifetime = lifetime
    _ = try await core.store.put(.integration(next), replacing: .integration(there), audit: nil, at: clock.now)
    try await core.refreshProvisioning()
  }
}
