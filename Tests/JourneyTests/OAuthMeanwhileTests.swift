import HTTPTestSupport
import PairingStore
import PairingStoreSQLite
import RegentCryptography
import RegentJSON
import RegentOAuth
import RegentPairing
import RegentPlatform
import ServiceTestSupport
import StoreConformance
import TestSupport
import Testing

@testable import PairingService

/// A store that runs a given action after a read, before it returns the result, or before an approval.
private final class MeanwhileStore: ForwardingStore {
  let target: any Store
  private let work = Locked<(@Sendable () async throws -> Void)?>(nil)

  init(_ target: any Store) { self.target = target }

  /// Sets the action that runs next, once.
  func next(_ work: @escaping @Sendable () async throws -> Void) { self.work.withLock { $0 = work } }

  /// Runs the action.
  ///
  /// A store error that it throws becomes the error of the store.
  private func happen() async throws(StoreError) {
    let work = work.withLock { work in
      defer { work = nil }
      return work
    }
    do {
      try await work?()
    } catch let error as StoreError {
      throw error
    } catch {
      Issue.record(error)
    }
  }

  func approve(_ id: RegistrationID, _ request: ApprovalRequest, audit entry: AuditEntry?, at now: Instant)
    async throws(StoreError) -> ApprovalResult
  {
    try await happen()
    return try await target.approve(id, request, audit: entry, at: now)
  }

  func grant(_ id: GrantID, at now: Instant) async throws(StoreError) -> ValidGrant? {
    let found = try await target.grant(id, at: now)
    try await happen()
    return found
  }

  func oauthClient(_ id: ClientID) async throws(StoreError) -> OAuthClientRecord? {
    let found = try await target.oauthClient(id)
    try await happen()
    return found
  }
}

@Suite struct `Changes during a store read` {
  @Test func `an account that is disabled during an introspection is not cached as valid`() async throws {
    try await withFileStore { file in
      let store = MeanwhileStore(file)
      let service = try await TestService(on: store)
      try await withOAuth(service) { client in
        let box = try await OAuthBox(service, client)
        let api = try await OAuthBox(service, client, .basic)
        let tokens = try await box.pair()
        // From here on the service has the API client in memory.
        #expect(try await api.introspect("nothing") == ["active": false])
        store.next { try await service.disable(Sample.account) }
        // The token was read before the account was disabled, so the response is as valid as one sent before.
        #expect(try await api.introspect(tokens.access)["active"] == true)
        // The first request reads the state anew. The others could be answered from memory.
        for _ in 0..<3 { #expect(try await api.introspect(tokens.access) == ["active": false]) }
      }
    }
  }

  @Test func `a client that is removed during its own introspection is not cached as valid`() async throws {
    try await withFileStore { file in
      let store = MeanwhileStore(file)
      let service = try await TestService(on: store)
      try await withOAuth(service) { client in
        let box = try await OAuthBox(service, client)
        let api = try await OAuthBox(service, client, .basic)
        let tokens = try await box.pair()
        let id: ClientID = try named(api.id)
        store.next { _ = try await file.removeOAuthClient(id, audit: nil, at: service.clock.now) }
        #expect(try await api.post("introspect", [("token", tokens.access)]).status == 200)
        #expect(try await api.post("introspect", [("token", tokens.access)]).status == 401)
      }
    }
  }

  @Test func `a refresh whose account is disabled after the grant was read is refused and makes no token`() async throws
  {
    try await withFileStore { file in
      let store = MeanwhileStore(file)
      let service = try await TestService(on: store)
      try await withOAuth(service) { client in
        let box = try await OAuthBox(service, client)
        let tokens = try await box.pair()
        let refresh = try #require(tokens.refresh)
        _ = try await box.refresh(refresh, [("scope", "unheard-of")])
        store.next { try await service.disable(Sample.account) }
        #expect(try await box.refresh(refresh).error == "temporarily_unavailable")
        try await service.disable(Sample.account, false)
        // The refused refresh wrote nothing, so this is still the latest token.
        let next = try Tokens(try await box.refresh(refresh))
        #expect(service.core.metrics.now[.refreshesRepeated] == 0)
        let id: GrantID = try named(try #require(try UnverifiedJWS(next.access).unverifiedClaims).string("grant"))
        store.next { _ = try await file.endGrants(GrantFilter(id: id), audit: nil, at: service.clock.now) }
        #expect(try await box.refresh(try #require(next.refresh)).error == "invalid_grant")
      }
    }
  }

  @Test func `a revocation ends the grant for good, whether the refresh or the revocation comes first`() async throws {
    try await withFileStore { store in
      let service = try await TestService(on: store)
      try await withOAuth(service) { client in
        let box = try await OAuthBox(service, client)
        let api = try await OAuthBox(service, client, .basic)
        for round in 0..<16 {
          let tokens = try await box.pair()
          let refresh = try #require(tokens.refresh)
          async let refreshed = box.refresh(refresh)
          async let revoked = box.post("revoke", [("token", round.isMultiple(of: 2) ? refresh : tokens.access)])
          let (answer, end) = (try await refreshed, try await revoked)
          #expect(end.status == 200)
          var left = [tokens]
          if answer.status == 200 { left.append(try Tokens(answer)) } else { #expect(answer.error == "invalid_grant") }
          for one in left {
            #expect(try await box.refresh(try #require(one.refresh)).error == "invalid_grant")
            #expect(try await api.introspect(one.access) == ["active": false])
          }
          service.clock.pass(.seconds(10))
        }
        #expect(try await store.grants(GrantFilter(), after: nil, limit: 9, at: service.clock.now).isEmpty)
      }
    }
  }

  @Test func `a code at its very end is approved or expires, and never both`() async throws {
    try await withFileStore { file in
      let store = MeanwhileStore(file)
      let service = try await TestService(on: store)
      try await withOAuth(service) { client in
        let box = try await OAuthBox(service, client)
        for isApproved in [true, false] {
          let code = try await box.begin()
          service.clock.pass(.milliseconds(1_799_999))
          store.next {
            service.clock.pass(.milliseconds(1))
            // A client that is told of the expiry stops polling, and a later approval would reach no client.
            for _ in 0..<2 { #expect(try await box.ask(code.device).error != "expired_token") }
            _ = service.core.codes.sweep(at: service.clock.now)
            if !isApproved { throw StoreError.diskFull }
          }
          if isApproved {
            try await service.approve(code.user)
            #expect(try await box.ask(code.device).status == 200)
          } else {
            await #expect(throws: StoreError.self) { try await service.approve(code.user) }
            #expect(try await box.ask(code.device).error == "expired_token")
          }
        }
        // After a client was told of the expiry the code cannot be approved, however the clock is set then.
        let code = try await box.begin()
        service.clock.pass(.seconds(1800))
        #expect(try await box.ask(code.device).error == "expired_token")
        service.clock.setAhead(.seconds(-60))
        await #expect(throws: StoreError.refused(.expired)) { try await service.approve(code.user) }
      }
    }
  }
}
