import HTTPTestSupport
import PairingStore
import RegentCryptography
import RegentJSON
import RegentPairing
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

/// What an operator switches off for a while.
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

@Suite struct `a grant whose account or integration is switched off` {
  @Test(arguments: Switch.allCases)
  func `waits: it opens nothing, and is as good as before when that ends`(what: Switch) async throws {
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
      // Another client with the token learns nothing of that.
      #expect(try await api.refresh(refresh).error == "invalid_grant")
      try await what.set(true, service)
      #expect(try await api.introspect(tokens.access)["active"] == true)
      let next = try Tokens(try await box.refresh(refresh))
      #expect(service.core.metrics.now[.refreshesRepeated] == 0)
      // An answer that got lost before it was switched off is given again meanwhile, and opens nothing: who came after
      // the minute that the 503 asks for would come too late.
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
  func `can be ended meanwhile, by its client and by a stolen token`(what: Switch) async throws {
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

  @Test(arguments: Switch.allCases)
  func `is not begun meanwhile: an approved code waits, and is redeemed when that ends`(what: Switch) async throws {
    let service = try await TestService()
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

  @Test func `ends when these are removed`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let tokens = try await box.pair()
      let code = try await box.begin()
      try await service.approve(code.user)
      let id = ProvisionID.integration(try named(Sample.requestor), try named(Sample.provider))
      _ = try await service.core.store.remove(id, audit: nil, at: service.clock.now)
      try await service.core.refreshProvisioning()
      #expect(try await box.refresh(try #require(tokens.refresh)).error == "invalid_grant")
      #expect(try await box.ask(code.device).error == "access_denied")
      // What does not stand can be ended all the same.
      #expect(try await box.post("revoke", [("token", tokens.access)]).status == 200)
      #expect(try await service.core.store.grants(GrantFilter(), after: nil, limit: 9, at: service.clock.now).isEmpty)
    }
  }

  @Test func `whose client is removed has no codes that somebody could say yes to`() async throws {
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
