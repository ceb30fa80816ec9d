import HTTPTestSupport
import PairingStore
import PairingStoreMemory
import PairingStoreSQLite
import RegentCryptography
import RegentOAuth
import RegentPairing
import SQLite
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

/// Counts the store reads of each call.
///
/// Each read of an account costs a row lookup and the verification of a MAC.
@Suite struct `Store reads of a call` {
  /// The calls of a signed-in device, with the number of read transactions of each.
  private static let calls: [(path: String, reads: Int)] = [
    ("authorize", 2), ("tokens/media", 2), ("tokens/authz", 2), ("preauthorize", 1),
    ("tokens/usermetadata", 1), ("tokens/authn", 1), ("checkauthn", 1),
  ]

  @Test func `each call reads the account once`() async throws {
    let store = MemoryStore()
    let service = try await TestService(on: store)
    try await TestTransport.inProcess.withClient(of: try service.router()) { client in
      let box = Box(service: service, client: client)
      try await box.signIn()
      for (path, _) in Self.calls {
        let before = await store.accountReads
        #expect(try await box.get("/api/v1/\(path)", ["resource": "news"]).status == 200, "\(path)")
        #expect(await store.accountReads - before == 1, "\(path)")
      }
    }
  }

  @Test func `each call has the stated number of read transactions, and a delivery is written without a read`()
    async throws
  {
    try await withFileStore { store in
      let service = try await TestService(on: store)
      try await TestTransport.inProcess.withClient(of: try service.router()) { client in
        let box = Box(service: service, client: client)
        try await service.approve(try await box.code())
        let approved = store.statistics
        #expect(try await box.get("/api/v1/tokens/authn").status == 200)
        let delivered = store.statistics
        #expect(delivered.reads == approved.reads)
        #expect(delivered.requests == approved.requests + 1)
        #expect(try await box.authorize("news").status == 200)
        for (path, reads) in Self.calls {
          let before = store.statistics
          #expect(
            try await box.get("/api/v1/\(path)", ["resource": "news"]).status == 200, "\(path)")
          #expect(store.statistics.reads - before.reads == reads, "\(path)")
          #expect(store.statistics.requests == before.requests, "\(path)")
        }
      }
    }
  }

  @Test(arguments: OAuthBox.Way.allCases)
  func `a poll of a pending OAuth code neither reads nor writes the database`(way: OAuthBox.Way) async throws {
    try await withFileStore { store in
      let service = try await TestService(on: store)
      try await withOAuth(service) { client in
        let box = try await OAuthBox(service, client, way)
        let code = try await box.begin()
        let before = store.statistics
        for word in ["authorization_pending", "slow_down", "authorization_pending"] {
          #expect(try await box.ask(code.device).error == word)
          if word == "slow_down" { service.clock.pass(.seconds(5)) }
        }
        // The expiry of a code that was never approved needs no database access either.
        service.clock.pass(.seconds(1800))
        #expect(try await box.ask(code.device).error == "expired_token")
        let after = store.statistics
        #expect(after.reads == before.reads)
        #expect(after.requests == before.requests)
        // An approved code is read, and its redemption is written.
        let next = try await box.begin()
        try await service.approve(next.user)
        let asked = store.statistics
        #expect(try await box.ask(next.device).status == 200)
        #expect(store.statistics.reads > asked.reads)
        #expect(store.statistics.requests > asked.requests)
      }
    }
  }

  @Test func `a client assertion is accepted once, also for polls that are answered from memory`() async throws {
    let service = try await TestService()
    try await withOAuth(service) { client in
      let box = try await OAuthBox(service, client, .key)
      let code = try await box.begin()
      func ask(_ assertion: String) async throws -> String? {
        service.clock.pass(.seconds(5))
        return try await client.post(
          "/oauth/token",
          form: [
            ("grant_type", OAuthBox.grant), ("device_code", code.device),
            ("client_assertion_type", ClientAuthentication.assertionType), ("client_assertion", assertion),
          ]
        ).error
      }
      let one = try box.assertion()
      #expect(try await ask(one) == "authorization_pending")
      #expect(try await ask(one) == "invalid_client")
      let other = try await OAuthBox(service, client, .key)
      #expect(try await ask(try other.assertion()) == "invalid_grant")
      #expect(try await ask(try box.assertion(audience: "https://other.example.org")) == "invalid_client")
    }
  }
}
