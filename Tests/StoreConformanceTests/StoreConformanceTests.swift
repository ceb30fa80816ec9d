import RegentCryptography
import RegentPairing
import PairingStore
import PairingStoreMemory
import PairingStoreSQLite
import SQLite
import StoreConformance
import ServiceTestSupport
import TestSupport
import Testing

@Suite struct `Every store keeps the contract` {
  @Test(arguments: StoreConformance.checks)
  func `the store in memory`(check: ConformanceCheck) async throws {
    try await check.run(on: MemoryStore(isShared: true))
  }

  @Test(arguments: StoreConformance.checks)
  func `the store in an SQLite file`(check: ConformanceCheck) async throws {
    try await withFileStore { store in
      try await check.run(on: store)
      // An honest history never looks tampered with.
      let bad = try await store.verifyRows(step: 3)
      #expect(bad == 0)
      #expect(try await store.auditProblems(step: 2) == [])
    }
  }

  @Test func `each promise is named once`() {
    let promises = StoreConformance.checks.map(\.promise)
    #expect(Set(promises).count == promises.count)
    #expect(promises.count > 60)
  }
}
