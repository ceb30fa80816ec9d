import HTTPTestSupport
import PairingStore
import PairingStoreMemory
import PairingStoreSQLite
import RegentCryptography
import RegentPairing
import SQLite
import ServiceTestSupport
import TestSupport
import Testing

@testable import PairingService

/// What a call reads of the store: each look at an account is a row to find and a MAC to verify.
@Suite struct `what a call reads` {
  /// The calls of a device that is signed in, with the number of transactions that each reads in.
  private static let calls: [(path: String, reads: Int)] = [
    ("authorize", 2), ("tokens/media", 2), ("tokens/authz", 2), ("preauthorize", 1),
    ("tokens/usermetadata", 1), ("tokens/authn", 1), ("checkauthn", 1),
  ]

  @Test func `the account is read once per call`() async throws {
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

  @Test func `each question is one transaction, and a delivery is written without a look before`()
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
}
