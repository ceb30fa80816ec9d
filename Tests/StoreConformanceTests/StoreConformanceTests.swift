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

@Suite struct `Conformance of the local stores` {
  @Test(arguments: StoreConformance.checks)
  func `the memory store passes each conformance check`(check: ConformanceCheck) async throws {
    try await check.run(on: MemoryStore(isShared: true))
  }

  @Test(arguments: StoreConformance.checks)
  func `the SQLite store passes each conformance check`(check: ConformanceCheck) async throws {
    try await withFileStore { store in
      try await check.run(on: store)
      // Rows that only the store has written must never be reported as tampered with.
      let bad = try await store.verifyRows(step: 3)
      #expect(bad == 0)
      #expect(try await store.auditProblems(step: 2) == [])
    }
  }

  @Test func `no two conformance checks have the same name`() {
    let promises = StoreConformance.checks.map(\.promise)
    #expect(Set(promises).count == promises.count)
    #expect(promises.count > 60)
  }
}

/// Serialized, because the number of connections to the server is limited.
@Suite(.serialized) struct `Conformance of the PostgreSQL store` {
  @Test(arguments: StoreConformance.checks)
  func `the PostgreSQL store passes each conformance check`(check: ConformanceCheck) async throws {
    try await withDatabaseStores(2) { stores in
      try await check.run(on: stores[0], beside: stores[1])
      let bad = try await stores[0].verifyRows(step: 3)
      #expect(bad == 0)
      #expect(try await stores[0].auditProblems(step: 2) == [])
    }
  }

  /// Alternates between two stores, so that a value cached in one may not hide what the other wrote.
  @Test(arguments: StoreConformance.checks)
  func `two PostgreSQL stores on one database pass each conformance check in turn`(check: ConformanceCheck) async throws
  {
    try await withDatabaseStores(3) { stores in
      try await check.run(on: HandlesInTurn(Array(stores[...1])), beside: stores[2])
      #expect(try await stores[1].auditProblems(step: 2) == [])
    }
  }
}
