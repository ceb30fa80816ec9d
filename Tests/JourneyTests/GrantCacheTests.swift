import HTTPTestSupport
import PairingStore
import PairingStoreSQLite
import RegentCryptography
import RegentJSON
import RegentOAuth
import RegentPairing
import SQLite
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

/// Compares introspection from memory with the store.
///
/// The tests change the store directly, so that the service learns of each change only because the store's change mark
/// moves.
@Suite struct `The cache of grants for introspection` {
  /// What ends a token or the client that introspects it.
  enum End: CaseIterable {
    case signOut, revocation, grant, client, accountDisabled, accountRemoved, integration, provider, rowKey, time
    case signingKey, asker, askersSecret, requestor

    /// Whether this ends the introspecting client rather than the token.
    var endsAsker: Bool { [.asker, .askersSecret, .requestor].contains(self) }
  }

  @Test(arguments: End.allCases)
  func `after any end of a token or of the introspecting client the cache gives no old answer`(end: End) async throws {
    try await withFileStore { store in
      let service = try await TestService(on: store)
      try await withOAuth(service) { client in
        let box = try await OAuthBox(service, client)
        let api = try await OAuthBox(service, client, .basic)
        let tokens = try await box.pair()
        #expect(try await api.introspect(tokens.access)["active"] == true)
        let before = store.statistics
        #expect(try await api.introspect(tokens.access)["active"] == true)
        #expect(store.statistics.reads == before.reads, "the second introspection read the store")
        try await happen(end, service, box, api)
        let answer = try await api.post("introspect", [("token", tokens.access)])
        if end.endsAsker {
          #expect(answer.status == 401, "\(answer.text)")
        } else {
          #expect(try answer.json() == ["active": false])
        }
      }
    }
  }

  private func happen(_ end: End, _ service: TestService, _ box: OAuthBox, _ api: OAuthBox) async throws {
    let (store, now) = (service.core.store, service.clock.now)
    let signIns = try await store.authentications(AuthenticationFilter(), after: nil, limit: 9, at: now)
    let signIn = try #require(signIns.first)
    let requestor: RequestorID = try named(Sample.requestor)
    let provider: ProviderID = try named(Sample.provider)
    switch end {
    case .signOut: _ = try await store.signOut(requestor: requestor, device: signIn.deviceHash, at: now)
    case .revocation: _ = try await store.revoke(AuthenticationFilter(), audit: nil, at: now)
    case .grant: _ = try await store.endGrants(GrantFilter(client: try named(box.id)), audit: nil, at: now)
    case .client: _ = try await store.removeOAuthClient(try named(box.id), audit: nil, at: now)
    case .accountDisabled: try await service.disable(Sample.account)
    case .accountRemoved: _ = try await store.remove(.account(provider, try named(Sample.account)), audit: nil, at: now)
    case .integration: _ = try await store.remove(.integration(requestor, provider), audit: nil, at: now)
    case .provider: _ = try await store.remove(.provider(provider), audit: nil, at: now)
    case .rowKey: _ = try await store.setState(of: signIn.rowKey, to: .revoked, audit: nil, at: now)
    case .time: service.clock.pass(.seconds(3600))
    case .signingKey:
      for key in try await store.signingKeys() where key.purpose == .oauth {
        try await store.retireSigningKey(key.id, neededUntil: now, audit: nil, at: now)
      }
      _ = try await store.forgetExpired(at: now, limit: 100)
      try await service.core.oauth.keys.refresh()
    case .asker: _ = try await store.removeOAuthClient(try named(api.id), audit: nil, at: now)
    case .askersSecret:
      let there = try #require(try await store.oauthClient(try named(api.id)))
      var changed = there
      changed.secret = service.core.hasher.token("another")
      try await store.put(changed, replacing: there, in: .unlimited, audit: nil, at: now)
    case .requestor: _ = try await store.remove(.requestor(requestor), audit: nil, at: now)
    }
  }

  @Test func `the cache stays valid while other clients pair and refresh, and gives no wrong answer`() async throws {
    try await withFileStore { store in
      let service = try await TestService(on: store)
      try await withOAuth(service) { client in
        let box = try await OAuthBox(service, client)
        let api = try await OAuthBox(service, client, .body)
        let tokens = try await box.pair()
        #expect(try await api.introspect(tokens.access)["active"] == true)
        _ = try await box.refresh(try #require(tokens.refresh))
        _ = try await box.begin()
        _ = try await box.pair()
        let before = store.statistics
        #expect(try await api.introspect(tokens.access)["active"] == true)
        #expect(store.statistics.reads == before.reads, "changes that end nothing emptied the cache")
        // The cache must not answer with a wrong secret, for a client without a secret, or for another requestor.
        var wrong = api
        wrong.way = .name
        #expect(try await wrong.introspect(tokens.access)["error"] == "invalid_client")
        #expect(try await box.introspect(tokens.access)["error"] == "invalid_client")
        let other = Requestor(id: try named("OTHER"), name: "Other")
        _ = try await service.core.store.put(.requestor(other), replacing: nil, audit: nil, at: service.clock.now)
        try await service.core.refreshProvisioning()
        let foreign = try await OAuthBox(service, client, .basic, requestor: "OTHER")
        // The second time the introspecting client is cached, too.
        for _ in 0..<2 { #expect(try await foreign.introspect(tokens.access) == ["active": false]) }
        for _ in 0..<2 { #expect(try await box.introspect(tokens.access)["error"] == "invalid_client") }
        // A token signed with the service's own key that names the grant of another client is refused.
        #expect(try await api.introspect(tokens.access)["active"] == true)
        let (keyID, key) = try #require(service.core.oauth.keys.current(.es256, at: service.clock.now))
        var claims = try #require(try UnverifiedJWS(tokens.access).unverifiedClaims)
        claims["client_id"] = .string(api.id)
        let borrowed = try JWS.sign(claims.bytes(), with: key, keyID: keyID.text, type: "at+jwt")
        for _ in 0..<2 { #expect(try await api.introspect(borrowed) == ["active": false]) }
      }
    }
  }

  @Test func `introspection never lags behind an account change that the operator was told of`() async throws {
    try await withFileStore { store in
      let service = try await TestService(on: store)
      try await withOAuth(service) { client in
        let box = try await OAuthBox(service, client)
        let api = try await OAuthBox(service, client, .basic)
        let tokens = try await box.pair()
        // The cache is refilled while the account changes. An entry that was read before the change must not outlive
        // it.
        for _ in 0..<40 {
          for isDisabled in [true, false] {
            try await withThrowingTaskGroup(of: Void.self) { group in
              for _ in 0..<8 { group.addTask { _ = try await api.introspect(tokens.access) } }
              try await service.disable(Sample.account, isDisabled)
              #expect(try await api.introspect(tokens.access)["active"] == .bool(!isDisabled))
              try await group.waitForAll()
            }
          }
        }
      }
    }
  }

  @Test func `64 concurrent refreshes get one set of tokens, and none after the account is disabled`() async throws {
    try await withFileStore { store in
      let service = try await TestService(on: store)
      try await withOAuth(service) { client in
        let box = try await OAuthBox(service, client)
        var tokens = try await box.pair()
        for _ in 0..<8 {
          // After ten seconds the rate limit of the device allows as many requests again.
          service.clock.pass(.seconds(10))
          let refresh = try #require(tokens.refresh)
          let answers = try await withThrowingTaskGroup(of: Tokens.self) { group in
            for _ in 0..<64 { group.addTask { try Tokens(try await box.refresh(refresh)) } }
            return try await group.reduce(into: Set<Tokens>()) { $0.insert($1) }
          }
          #expect(answers.count == 1)
          tokens = try #require(answers.first)
        }
        // Whichever is first, any later response knows that the account is disabled.
        service.clock.pass(.seconds(10))
        for _ in 0..<20 {
          let refresh = try #require(tokens.refresh)
          async let refreshed = box.refresh(refresh)
          async let locked: Void = service.disable(Sample.account)
          let answer = try await refreshed
          try await locked
          let paused = "temporarily_unavailable"
          if answer.status == 200 { tokens = try Tokens(answer) } else { #expect(answer.error == paused) }
          #expect(try await box.refresh(try #require(tokens.refresh)).error == paused)
          try await service.disable(Sample.account, false)
        }
        #expect(try await box.refresh(try #require(tokens.refresh)).status == 200)
      }
    }
  }

  @Test func `a cached grant expires with the grant, even if the store has not changed`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      _ = try await box.pair()
      let now = service.clock.now
      let all = try await service.core.store.grants(GrantFilter(), after: nil, limit: 9, at: now)
      let grant = try #require(all.first)
      let standing = try #require(try await service.core.store.grant(grant.id, at: now))
      let memory = GrantCache()
      memory.keep(standing, asOf: 7)
      let end = min(standing.grant.expires, standing.signIn.authentication.expires)
      #expect(memory.grant(standing.grant.id, asOf: 7, at: end + .milliseconds(-1)) != nil)
      #expect(memory.grant(standing.grant.id, asOf: 7, at: end) == nil)
      #expect(memory.grant(standing.grant.id, asOf: 8, at: now) == nil)
    }
  }

  @Test func `the cache compares tokens by bytes and not by Unicode equivalence`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client)
      let api = try await OAuthBox(service, client, .basic)
      var tokens = try await box.pair()
      while !tokens.access.contains("K") { tokens = try Tokens(try await box.refresh(try #require(tokens.refresh))) }
      #expect(try await api.introspect(tokens.access)["active"] == true)
      // U+212A (KELVIN SIGN) equals K for Unicode and for Swift strings.
      let place = try #require(tokens.access.firstIndex(of: "K"))
      let other = tokens.access.replacingCharacters(at: place, with: "\u{212A}")
      #expect(other == tokens.access)
      #expect(try await api.introspect(other) == ["active": false])
    }
  }
}

extension String {
  fileprivate func replacingCharacters(at place: Index, with text: String) -> String {
    String(self[..<place]) + text + String(self[index(after: place)...])
  }
}
