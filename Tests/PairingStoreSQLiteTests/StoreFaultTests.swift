import RegentPairing
import PairingStore
@testable import StoreConformance
@testable import PairingStoreSQLite
import SQLite
import StorageFaults
import TestSupport
import Testing

@Suite struct `The SQLite store on a failing disk` {
  @Test func `a full disk refuses a new code completely, and writing works again once there is room`()
    async throws
  {
    let disk = FaultyDisk()
    try await withTemporaryFolder { folder in
      var file = StoreFile(path: "\(folder)/regent.db")
      file.fileLayer = disk.name
      try await file.with { store async throws in
        let stage = try await ConformanceFixture(store)
        disk.setCapacity(disk.size + 5_000)
        var refused: RegistrationRecord?
        for number in 1...500 where refused == nil {
          let record = try stage.registration(number, device: number)
          do {
            try await stage.reserve(record, limit: 1000)
          } catch StoreError.diskFull {
            refused = record
          }
        }
        let record = try #require(refused, "the disk was never full")
        #expect(try await store.registration(record.id, at: stage.at(1)) == nil)
        disk.setCapacity(nil)
        try await stage.reserve(record, limit: 1000)
        #expect(try await store.registration(record.id, at: stage.at(1)) == record)
      }
    }
  }

  @Test func `a failed commit is reported as unknown, and a retry after reopening settles it`()
    async throws
  {
    let disk = FaultyDisk()
    try await withTemporaryFolder { folder in
      var file = StoreFile(path: "\(folder)/regent.db")
      file.fileLayer = disk.name
      let record = try await file.with { store async throws in
        let stage = try await ConformanceFixture(store)
        let record = try stage.registration(1)
        disk.fail([.synchronise], at: 1)
        do {
          try await stage.reserve(record)
          Issue.record("the commit did not fail")
        } catch StoreError.unknownOutcome {}
        await #expect(throws: StoreError.self) { try await stage.reserve(record) }
        return record
      }
      disk.heal()
      try await file.with { store async throws in
        let now = record.flow.issued
        #expect(try await store.reserve(record, within: LiveCodeLimits(5), at: now).withdrawn == [])
        #expect(try await store.registrations(after: nil, limit: 9, at: now) == [record])
      }
    }
  }
}
