import PairingStore
import RegentPairing
@testable import PairingStoreSQLite
@testable import StoreConformance
import SQLite
import TestSupport
import Testing

@Suite struct `Names of failed sign-ins` {
  @Test func `the name that a viewer typed is not stored in clear`() async throws {
    try await withStoreFile { file in
      try await file.with { store async throws in
        let (provider, name): (ProviderID, AccountName)
        (provider, name) = (try ConformanceFixture.name("cable"), try ConformanceFixture.name("MySecretPassword"))
        let source = try #require(SourceKey(address: [192, 0, 2, 1]))
        let now = Instant(milliseconds: 1_000)
        for subject in [LoginSubject.account(provider, name), .accountFrom(source, provider, name)] {
          #expect(try await store.recordLoginFailure(of: subject, at: now).count == 1)
          #expect(try await store.recordLoginFailure(of: subject, at: now).count == 2)
        }
        let stored = try await store.database.read { context in
          try context.all("SELECT subject FROM login_failure") { try $0.text(0) }
        }
        #expect(stored.count == 2 && !stored.contains { $0.contains("MySecret") || $0.contains("cable") }, "\(stored)")
      }
    }
  }
}
