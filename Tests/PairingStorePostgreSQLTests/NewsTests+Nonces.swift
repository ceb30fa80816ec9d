import PairingStore
import PairingStorePostgreSQL
import PostgreSQL
import PostgreSQLStoreTestSupport
import RegentPairing
import RegentPlatform
import TestSupport
import Testing

/// The marks of the nonces that the stores of the test received.
private final class HeardNonces: Sendable {
  let marks = Locked<Set<UInt64>>([])
}

/// How a used nonce reaches the other stores.
extension NewsTests {
  @Test func `a lone store stops notifying for each nonce, and a store that joins receives all earlier ones`()
    async throws
  {
    try await withTwo { place, one, other in
      other.close()
      let ear = try place.connect()
      try ear.listen(to: "regent_news", by: serverDeadline)
      let heard = HeardNonces()
      func following(_ store: PostgreSQLStore) -> Task<Void, any Error> {
        Task {
          var position = try await store.endOfChanges()
          while !Task.isCancelled {
            let page = try await store.changes(after: position, waiting: .milliseconds(250))
            heard.marks.withLock { $0.formUnion(page.nonces.map(\.mark)) }
            position = page.position
          }
        }
      }
      let key = try #require(PublicKey("key"))
      let used = Locked<UInt64>(0)
      // Shares thirty nonces one after the other and returns how many notifications announced them.
      func news() async throws -> Int {
        while try !ear.notifications(by: .after(.zero)).isEmpty {}
        for _ in 0..<30 {
          let mark = used.withLock { used in
            used += 1
            return used
          }
          try await one.share([UsedNonce(key: key, second: 7, mark: mark)])
          try await pass(milliseconds: 5)
        }
        var count = 0
        while case let bells = try ear.notifications(by: .after(.zero)), !bells.isEmpty {
          count += bells.count { $0.payload.hasSuffix("news") }
        }
        return count
      }
      let first = following(one)
      defer { first.cancel() }
      #expect(try await news() > 10, "the store does not know yet that it is alone")
      // The store must hear no other store's notification for 1.5 s, and one heartbeat must find no other node.
      try await eventually("the store to find that it is alone", within: 30) { try await news() <= 2 }
      #expect(heard.marks.withLock { $0.isEmpty }, "a store does not receive its own nonces")
      let newcomer = try PostgreSQLStore(place.options(node: "newcomer"))
      defer { newcomer.close() }
      let second = following(newcomer)
      defer { second.cancel() }
      let all = used.withLock { Set(1...$0) }
      try await eventually("the newcomer to hear of all of them") { heard.marks.withLock { $0 == all } }
      try await eventually("the store to notify the newcomer") { try await news() > 10 }
    }
  }

  @Test func `more nonces than fit in a page are read over several pages`() async throws {
    try await withTwo { place, one, _ in
      try place.connect().run(
        """
        WITH all_rows AS (
          INSERT INTO nonce (n, lane, used, guesses)
          SELECT n, 0, 'key 7/' || lpad(to_hex(n), 16, '0'), '' FROM generate_series(1, 2500) AS n RETURNING n)
        INSERT INTO nonce_count (id, n) SELECT 1, max(n) FROM all_rows ON CONFLICT (id) DO UPDATE SET n = EXCLUDED.n
        """, by: serverDeadline)
      var page = try await one.changes(after: try await one.endOfChanges(), waiting: .zero)
      var (pages, marks) = (1, Set(page.nonces.map(\.mark)))
      while page.hasMore {
        page = try await one.changes(after: page.position, waiting: .zero)
        pages += 1
        marks.formUnion(page.nonces.map(\.mark))
      }
      #expect(pages == 3 && marks == Set(1...2500))
    }
  }
}
