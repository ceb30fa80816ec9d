import RegentCryptography
import RegentPairing
import PairingStore
@testable import StoreConformance
@testable import PairingStoreSQLite
import SQLite
import StorageFaults
import TestSupport
import Testing

@Suite struct `The SQLite store` {
  @Test(arguments: StoreConformance.checks)
  func `what a store returned before closing is there after opening it again`(check: ConformanceCheck)
    async throws
  {
    try await withStoreFile { file in
      let before = try await file.with { store async throws in
        try await check.run(on: store)
        return try await Picture(of: store)
      }
      try await file.with { store async throws in
        #expect(try await Picture(of: store) == before)
        #expect(try await store.verifyRows() == 0)
      }
    }
  }

  @Test func `rows of every kind survive closing the store, and a code approved before is not approved again`()
    async throws
  {
    try await withStoreFile { file in
      let (house, before) = try await file.with { store async throws in
        let house = try await FullHouse(store)
        return (house, try await Picture(of: store))
      }
      try await file.with { store async throws in
        #expect(try await Picture(of: store) == before)
        await #expect(throws: StoreError.refused(.alreadyApproved)) {
          try await store.approve(
            house.registration, house.stage.order(for: house.stage.bob, as: 77), audit: nil,
            at: house.stage.at(5))
        }
        #expect(
          try await store.pickUp(
            requestor: house.stage.requestor, device: house.stage.hash(1001), awaitsDelivery: false,
            at: house.stage.at(5)
          ).delivery != nil)
      }
    }
  }

  @Test func `a wrong master key opens nothing, and the right one still does`() async throws {
    try await withStoreFile { file in
      let before = try await file.with { try await $0.keyMaterial(for: .codes) }
      var wrong = file
      wrong.master = Random.secret()
      #expect(throws: StoreKeyFailure.self) { try wrong.open() }
      wrong.master = Random.secret(31)
      #expect(throws: StoreKeyFailure.masterKeyLength(found: 31)) { try wrong.open() }
      #expect(try await file.with { try await $0.keyMaterial(for: .codes) } == before)
    }
  }

  @Test func `changing the master key re-seals the data keys and nothing else`() async throws {
    try await withStoreFile { file in
      var next = file
      next.master = Random.secret()
      let before = try await file.with { store async throws in
        _ = try await FullHouse(store)
        try await store.changeMasterKey(from: file.master, to: next.master)
        return try await Picture(of: store)
      }
      #expect(throws: StoreKeyFailure.self) { try file.open() }
      try await next.with { store async throws in #expect(try await Picture(of: store) == before) }
    }
  }

  @Test func `a missing data key is reported and not created anew`() async throws {
    try await withStoreFile { file in
      try await file.with { _ in }
      try file.behindTheBack { try $0.run("DELETE FROM data_key WHERE purpose = 'rows'") }
      #expect(throws: StoreKeyFailure.missingDataKey("rows")) { try file.open() }
    }
  }

  @Test func `a closed store answers that it is unavailable`() async throws {
    try await withStoreFile { file in
      let store = try file.open()
      store.close()
      await #expect(throws: StoreError.unavailable(reason: "the database is closed")) {
        try await store.provisioning()
      }
      await #expect(throws: StoreError.unavailable(reason: "the database is closed")) {
        try await store.append(
          AuditEntry(at: Instant(milliseconds: 0), actor: .service, action: "a", subject: "b"))
      }
    }
  }

  @Test func `failures of the database map to the store's errors`() {
    let cause = SQLiteError(code: .full, message: "full")
    let broken = SQLiteError(code: .inputOutput, message: "disk")
    #expect(StoreError(of: DatabaseFailure.diskFull(cause)) == .diskFull)
    #expect(StoreError(of: cause) == .diskFull)
    #expect(
      StoreError(of: DatabaseFailure.outcomeUnknown(broken))
        == .unknownOutcome(reason: broken.description))
    for failure in [
      DatabaseFailure.rolledBack(broken), .stopped(broken), .closed, .overloaded(waiting: 3),
    ] {
      #expect(StoreError(of: failure) == .unavailable(reason: failure.description))
    }
    #expect(StoreError(of: StoreError.codeTaken) == .codeTaken)
  }

  @Test func `the limit on live codes is exact, however codes end and after a restart`() async throws {
    try await withStoreFile { file in
      let stage = try await file.with { store async throws in
        let stage = try await ConformanceFixture(store)
        func reserve(_ number: Int, device: Int) async throws {
          _ = try await store.reserve(
            stage.registration(number, device: device), within: LiveCodeLimits(4), at: stage.at(0))
        }
        for number in 1...4 { try await reserve(number, device: number) }
        // At the limit a device can still replace its own code.
        try await reserve(5, device: 4)
        await #expect(throws: StoreError.tooManyLiveCodes(limit: 4)) { try await reserve(6, device: 6) }
        _ = try await store.withdraw(
          ConformanceFixture.name("registration-1"), .device, audit: nil, at: stage.at(1))
        try await reserve(7, device: 7)
        await #expect(throws: StoreError.tooManyLiveCodes(limit: 4)) { try await reserve(8, device: 8) }
        return stage
      }
      // The live codes are counted again after a start.
      try await file.with { store async throws in
        await #expect(throws: StoreError.tooManyLiveCodes(limit: 4)) {
          try await store.reserve(stage.registration(9, device: 9), within: LiveCodeLimits(4), at: stage.at(2))
        }
        _ = try await store.forgetExpired(at: stage.at(9999), limit: 100)
        _ = try await store.reserve(stage.registration(10, device: 10), within: LiveCodeLimits(1), at: stage.at(0))
      }
    }
  }
}
