import Glibc
import PairingStore
import PairingStorePostgreSQL
import PostgreSQLStoreTestSupport
import PostgreSQLTestSupport
import RegentPairing
import RegentSQL
import TestSupport
import Testing

@Suite("A PostgreSQL server whose disk is full", .serialized)
struct FullServerDiskTests {
  private func add(_ text: String, to store: PostgreSQLStore) async throws(StoreError) {
    guard let id = RequestorID(text) else { return }
    let name = String(repeating: "a long name ", count: 60)
    _ = try await store.put(
      .requestor(Requestor(id: id, name: name)), replacing: nil, audit: nil, at: Instant(milliseconds: 0))
  }

  @Test(.enabled(if: getuid() == 0, "mounting takes root"))
  func `the store refuses writes while the disk is full, even if a small row would fit`() async throws {
    let server = try PostgreSQLServer()
    let disk = try SmallDisk(of: server)
    let store = try PostgreSQLStore(DatabasePlace(on: server).options())
    defer { store.close() }
    try await add("BEFORE", to: store)
    try await store.tryWriting()
    try await store.lookForRoom()
    #expect(store.numbers.diskFull == 0 && store.numbers.rollbacks == 0)
    #expect(store.numbers.commitMicroseconds.count > 0 && store.numbers.commitMicroseconds.sum > 0)
    #expect(store.numbers.batchSizes.count == store.numbers.commitMicroseconds.count)
    try disk.fill()
    // An operator's explicit check looks at the disk even when no write has failed yet.
    await #expect(throws: StoreError.diskFull) { try await store.lookForRoom() }
    try disk.makeRoom()
    try await store.tryWriting()
    try disk.fill()
    var number = 0
    try await eventually("a row that finds no room") { () async throws -> Bool? in
      number += 1
      do throws(StoreError) {
        try await add("ROW\(number)", to: store)
        return nil
      } catch {
        #expect(error == .diskFull)
        return true
      }
    }
    await #expect(throws: StoreError.diskFull) { try await store.tryWriting() }
    #expect(store.numbers.diskFull > 1 && store.numbers.rollbacks > 0)
    #expect(store.awayFor == nil, "it answers")
    #expect(try await store.provisioning().requestors.count >= 1)
    try disk.makeRoom()
    try await store.tryWriting()
    try await add("AFTER", to: store)
  }
}
