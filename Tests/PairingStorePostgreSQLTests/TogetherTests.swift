import PairingStore
import PairingStorePostgreSQL
import PostgreSQL
import PostgreSQLStoreTestSupport
import PostgreSQLTestSupport
import RegentPairing
import RegentPlatform
import TestSupport
import Testing

private func named<Kind>(_ text: String) throws -> Identifier<Kind> { try #require(Identifier<Kind>(text)) }

private let start = Instant(milliseconds: 1_000)

/// The questions of these requests are asked together, before the first request writes.
@Suite("Registration codes in one transaction", .serialized)
struct TogetherTests {
  private func code(_ number: Int, of device: Int) throws -> RegistrationRecord {
    RegistrationRecord(
      id: try named("code-\(number)"), code: try #require(CodeHash(hash(number))), requestor: try named("REF30"),
      device: try named("device-\(device)"), deviceHash: try #require(DeviceHash(hash(100_000 + device))),
      rowKey: try named("rowsOfREF30"), flow: PairingFlow(issued: start, lifetime: .usual))
  }

  private func hash(_ number: Int) -> [UInt8] {
    (0..<32).map { UInt8(truncatingIfNeeded: $0 < 4 ? number >> (8 * $0) : 7) }
  }

  /// Runs requests in one transaction: a lock on `cluster` blocks the writer until all requests are queued.
  private func together(
    _ place: DatabasePlace, _ store: PostgreSQLStore, _ work: [@Sendable () async throws -> Void]
  ) async throws {
    let operating = try place.connect()
    try operating.begin(by: serverDeadline)
    try operating.run("SELECT 1 FROM cluster FOR UPDATE", by: serverDeadline)
    let first = Task { try await store.tryWriting() }
    let watching = try place.connect()
    try await eventually("the first write to wait") {
      try watching.run(
        """
        SELECT 1 FROM pg_stat_activity WHERE application_name = 'regent one' AND wait_event_type = 'Lock'
        """, by: serverDeadline
      ).isEmpty ? nil : true
    }
    try await withThrowingTaskGroup { group in
      for one in work { group.addTask(operation: one) }
      try await eventually("the other writes to wait") { store.waitingWrites == work.count ? true : nil }
      try operating.rollback(by: serverDeadline)
      try await group.waitForAll()
    }
    try await first.value
  }

  @Test func `requests in a shared transaction see what earlier requests have written`() async throws {
    let place = try DatabasePlace(on: PostgreSQLServer.shared.get())
    defer { try? place.remove() }
    let store = try PostgreSQLStore(place.options(node: "one"))
    defer { store.close() }
    let requestor: RequestorID = try named("REF30")
    _ = try await store.put(
      .requestor(Requestor(id: requestor, name: "Reference")), replacing: nil, audit: nil, at: start)
    try await store.add(
      KeyPair(
        publicKey: try named("rowsOfREF30"), requestor: requestor, purpose: .rows, secret: StoredSecret([1, 2, 3]),
        created: start), audit: nil, at: start)
    let earlier = try code(0, of: 0)
    _ = try await store.reserve(earlier, within: LiveCodeLimits(1_000), at: start)
    let withdrawn = Locked<[RegistrationID]>([])
    let records = try (1...60).map { try code($0, of: $0 <= 20 ? 0 : $0) }
    let counting = try place.connect()
    func transactions() throws -> Int64 {
      try counting.run("SELECT CAST(coalesce(sum(n), 0) AS BIGINT) FROM lane", by: serverDeadline)[0].integer(0)
    }
    let before = try transactions()
    try await together(
      place, store,
      records.map { record in
        {
          let reservation = try await store.reserve(record, within: LiveCodeLimits(1_000), at: start)
          withdrawn.withLock { $0 += reservation.withdrawn.map(\.record.id) }
        }
      })
    // Twenty codes share one device. Each withdraws the one before it, and the first withdraws the code stored
    // earlier.
    #expect(withdrawn.withLock { Set($0).count } == 20 && withdrawn.withLock { $0.count } == 20)
    let kept = try await store.registrations(after: nil, limit: 100, at: start)
    let waiting = kept.filter { $0.flow.settled(at: start).state.isPending }
    #expect(kept.count == 61 && waiting.count == 41)
    #expect(Set(waiting.map(\.deviceHash)).count == 41)
    // A stale prefetched answer would have undone the transaction, and each request would have needed one of its own.
    #expect(try transactions() - before <= 2)
  }
}
