import RegentCryptography
import RegentPairing
import PairingStore
import PairingStoreMemory
import PairingStorePostgreSQL
import PairingStoreSQLite
import PostgreSQLStoreTestSupport
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

/// One after another: a server has as many connections as it takes.
@Suite(.serialized) struct `Every store on a server keeps the contract` {
  @Test(arguments: StoreConformance.checks)
  func `the store in a PostgreSQL database`(check: ConformanceCheck) async throws {
    try await withDatabaseStores(2) { stores in
      try await check.run(on: stores[0], beside: stores[1])
      let bad = try await stores[0].verifyRows(step: 3)
      #expect(bad == 0)
      #expect(try await stores[0].auditProblems(step: 2) == [])
    }
  }

  /// What one handle keeps in memory may not count for the other.
  @Test(arguments: StoreConformance.checks)
  func `two stores on one PostgreSQL database, in turn`(check: ConformanceCheck) async throws {
    try await withDatabaseStores(3) { stores in
      try await check.run(on: HandlesInTurn(Array(stores[...1])), beside: stores[2])
      #expect(try await stores[1].auditProblems(step: 2) == [])
    }
  }
}
