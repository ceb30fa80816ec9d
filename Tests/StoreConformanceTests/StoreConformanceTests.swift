import PairingStore
import Testing

@Suite struct `Every store keeps the contract` {
  @Test(arguments: StoreConformance.checks)
  func `the store in memory`(check: ConformanceCheck) async throws {
    try await check.run(on: MemoryStore())
  }
}
